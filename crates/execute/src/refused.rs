//! What the sandbox refused, in words.

use fixpoint_ports::{AccessKind, RefusedAccess};

use crate::ExecutionContext;

impl ExecutionContext {
    /// Says what a program could not reach, and which setting permits it. Once for each access.
    pub(crate) fn tell_refused(&self, refused: &[RefusedAccess]) {
        for access in refused {
            let path = access.path.display();
            let (en, ja, setting) = match access.kind {
                AccessKind::Read => ("read", "読み取り", "sandbox.read"),
                AccessKind::Write => ("write", "書き込み", "sandbox.write"),
            };
            self.notice_once(
                format!("the sandbox refused: {en} {path}; to permit it, add it to `{setting}` in your own configuration"),
                format!("サンドボックスが拒否しました: {path} への{ja}。許可するには、ご自身の設定の `{setting}` に追加してください"),
            );
        }
    }
}
