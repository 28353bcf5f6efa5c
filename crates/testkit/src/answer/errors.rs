//! Error documents of each protocol.

use serde_json::{Value, json};

use crate::question::Protocol;

pub(crate) fn error_body(protocol: Protocol, status: u16, message: &str) -> Value {
    match protocol {
        Protocol::Chat | Protocol::Responses => {
            let kind = match status {
                401 => "authentication_error",
                429 => "rate_limit_error",
                400..500 => "invalid_request_error",
                _ => "server_error",
            };
            json!({"error": {"message": message, "type": kind, "param": null, "code": null}})
        }
        Protocol::Messages => {
            let kind = match status {
                401 => "authentication_error",
                403 => "permission_error",
                404 => "not_found_error",
                413 => "request_too_large",
                429 => "rate_limit_error",
                529 => "overloaded_error",
                400..500 => "invalid_request_error",
                _ => "api_error",
            };
            json!({"type": "error", "error": {"type": kind, "message": message}})
        }
    }
}
