//! `State` for structs and enums, from the list of their fields and variants.

/// Implements [`State`](super::State) for a type: `state!(struct A { b, c });`, `state!(struct A(b));`,
/// `state!(enum A { B, C(d), E { f } });`. A field that is left out does not compile, unless it is among those that are
/// not kept: `state!(struct A { b } without { c: Vec::new() });`.
#[macro_export]
macro_rules! impl_state {
    (struct $name:ident { $($field:ident),+ $(,)? } $(without { $($other:ident: $value:expr),+ $(,)? })?) => {
        impl $crate::state::State for $name {
            fn put(&self, to: &mut Vec<u8>) {
                let Self { $($field,)+ $($($other: _,)+)? } = self;
                $($crate::state::State::put($field, to);)+
            }

            fn take(from: &mut $crate::state::Reader<'_>) -> Option<Self> {
                $(let $field = $crate::state::State::take(from)?;)+
                Some(Self { $($field,)+ $($($other: $value,)+)? })
            }
        }
    };
    (struct $name:ident<$($lifetime:lifetime,)? $inner:ident> { $($field:ident),+ $(,)? }) => {
        impl<$($lifetime,)? $inner: $crate::state::State> $crate::state::State for $name<$($lifetime,)? $inner> {
            fn put(&self, to: &mut Vec<u8>) {
                let Self { $($field,)+ } = self;
                $($crate::state::State::put($field, to);)+
            }

            fn take(from: &mut $crate::state::Reader<'_>) -> Option<Self> {
                $(let $field = $crate::state::State::take(from)?;)+
                Some(Self { $($field,)+ })
            }
        }
    };
    (struct $name:ident($($field:ident),+)) => {
        impl $crate::state::State for $name {
            fn put(&self, to: &mut Vec<u8>) {
                let Self($($field),+) = self;
                $($crate::state::State::put($field, to);)+
            }

            fn take(from: &mut $crate::state::Reader<'_>) -> Option<Self> {
                $(let $field = $crate::state::State::take(from)?;)+
                Some(Self($($field),+))
            }
        }
    };
    (enum $name:ident {
        $($variant:ident $(($($inner:ident),+))? $({ $($field:ident),+ $(,)? })?),+ $(,)?
    }) => {
        impl $crate::state::State for $name {
            fn put(&self, to: &mut Vec<u8>) {
                #[allow(clippy::enum_variant_names)] // as in the type itself
                enum Tag { $($variant),+ }
                match self {
                    $(Self::$variant $(($($inner),+))? $({ $($field),+ })? => {
                        to.push(Tag::$variant as u8);
                        $($($crate::state::State::put($inner, to);)+)?
                        $($($crate::state::State::put($field, to);)+)?
                    })+
                }
            }

            fn take(from: &mut $crate::state::Reader<'_>) -> Option<Self> {
                #[allow(clippy::enum_variant_names)] // as in the type itself
                enum Tag { $($variant),+ }
                let tag: u8 = $crate::state::State::take(from)?;
                $(if tag == Tag::$variant as u8 {
                    $($(let $inner = $crate::state::State::take(from)?;)+)?
                    $($(let $field = $crate::state::State::take(from)?;)+)?
                    return Some(Self::$variant $(($($inner),+))? $({ $($field),+ })?);
                })+
                None
            }
        }
    };
}

pub use crate::impl_state as state;
