//! The loopback interface of a network namespace, which is down at first.

use super::LaunchError;

pub(super) fn bring_up() -> Result<(), LaunchError> {
    crate::raw::bring_up_loopback().map_err(LaunchError::system("bring up the loopback interface"))
}
