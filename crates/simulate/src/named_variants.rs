//! The list of an enum's variants with their names, so that a variant cannot be missing from one of them.

/// Gives an enum `ALL`, in the order of the list, and `name`.
macro_rules! named_variants {
    ($kind:ident { $($variant:ident: $name:literal),+ $(,)? }) => {
        impl $kind {
            const COUNT: usize = [$($name),+].len();
            pub const ALL: [Self; Self::COUNT] = [$(Self::$variant),+];

            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }
        }
    };
}
pub(crate) use named_variants;
