//! `#[derive(State)]` writes a type as bytes and reads it back, for partial results.
//!
//! Serde cannot do it: many of these types are also written as JSON, with fields that are left out or renamed there, and a
//! compact format that knows no keys could not read that back.

use proc_macro::TokenStream as Tokens;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{
    Attribute, Data, DataEnum, DeriveInput, Error, Expr, Fields, GenericParam, Index, Member, Result, Token,
    parse_macro_input, parse_quote,
};

/// Implements `elephant_base::state::State`: a struct as its fields, one after another, an enum as the place of its variant
/// in one byte, then the variant's fields. A field with `#[state(skip)]` is not written, and read as its default, with
/// `#[state(skip = value)]` as that value. A `&'static str` with `#[state(known = NAMES)]` is read as one of these names.
#[proc_macro_derive(State, attributes(state))]
pub fn derive_state(input: Tokens) -> Tokens {
    let input = parse_macro_input!(input as DeriveInput);
    implementation(input).unwrap_or_else(Error::into_compile_error).into()
}

fn implementation(mut input: DeriveInput) -> Result<TokenStream> {
    let Bodies { put, take } = match &input.data {
        Data::Struct(data) => of_struct(&data.fields)?,
        Data::Enum(data) => of_enum(data)?,
        Data::Union(_) => {
            return Err(Error::new_spanned(&input.ident, "a union does not say which field it holds"));
        }
    };
    for param in &mut input.generics.params {
        if let GenericParam::Type(param) = param {
            param.bounds.push(parse_quote!(::elephant_base::state::State));
        }
    }
    let name = &input.ident;
    let (generics, arguments, condition) = input.generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #generics ::elephant_base::state::State for #name #arguments #condition {
            fn put(&self, to: &mut ::std::vec::Vec<u8>) {
                #put
            }

            fn take(from: &mut ::elephant_base::state::Reader<'_>) -> ::core::option::Option<Self> {
                ::core::option::Option::Some(#take)
            }
        }
    })
}

/// The code that writes a value, and the expression that reads one.
struct Bodies {
    put: TokenStream,
    take: TokenStream,
}

fn of_struct(fields: &Fields) -> Result<Bodies> {
    let Parts { pattern, put, take } = parts(fields)?;
    Ok(Bodies { put: quote!(let Self #pattern = self; #put), take: quote!(Self #take) })
}

fn of_enum(data: &DataEnum) -> Result<Bodies> {
    let (mut puts, mut takes) = (Vec::new(), Vec::new());
    for (place, variant) in data.variants.iter().enumerate() {
        let tag = u8::try_from(place)
            .map_err(|_| Error::new_spanned(variant, "one byte tells 256 variants apart"))?;
        let (name, Parts { pattern, put, take }) = (&variant.ident, parts(&variant.fields)?);
        puts.push(quote!(Self::#name #pattern => { to.push(#tag); #put }));
        takes.push(quote!(#tag => Self::#name #take,));
    }
    Ok(Bodies {
        put: quote!(match self { #(#puts)* }),
        take: quote! {
            match <u8 as ::elephant_base::state::State>::take(from)? {
                #(#takes)*
                _ => return ::core::option::Option::None,
            }
        },
    })
}

/// What follows the name of a struct or variant.
struct Parts {
    /// Binds the fields that are written.
    pattern: TokenStream,
    put: TokenStream,
    /// The fields as they are read.
    take: TokenStream,
}

fn parts(fields: &Fields) -> Result<Parts> {
    let (mut members, mut bindings) = (Vec::new(), Vec::new());
    let (mut puts, mut takes) = (Vec::new(), Vec::new());
    for (place, field) in fields.iter().enumerate() {
        let member = field.ident.clone().map_or_else(|| Member::from(Index::from(place)), Member::from);
        let binding: Ident = format_ident!("field_{place}");
        let (put, take) = match way(&field.attrs)? {
            Way::Skipped(value) => (None, value),
            Way::Known(names) => (
                Some(quote!(::elephant_base::state::put_text(#binding, to);)),
                quote!(::elephant_base::state::take_known(from, &#names)?),
            ),
            Way::Written => (
                Some(quote!(::elephant_base::state::State::put(#binding, to);)),
                quote!(::elephant_base::state::State::take(from)?),
            ),
        };
        bindings.push(put.as_ref().map_or_else(|| quote!(_), |_| binding.into_token_stream()));
        puts.extend(put);
        takes.push(quote!(#member: #take));
        members.push(member);
    }
    Ok(Parts {
        pattern: quote!({ #(#members: #bindings),* }),
        put: quote!(#(#puts)*),
        take: quote!({ #(#takes),* }),
    })
}

/// What happens with a field.
enum Way {
    Written,
    /// It is a name that the program itself has, from this list.
    Known(Expr),
    /// It is not written, and read as this value.
    Skipped(TokenStream),
}

fn way(attributes: &[Attribute]) -> Result<Way> {
    let mut way = Way::Written;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("state")) {
        attribute.parse_nested_meta(|meta| {
            way = if meta.path.is_ident("known") {
                Way::Known(meta.value()?.parse()?)
            } else if !meta.path.is_ident("skip") {
                return Err(meta.error("expected `skip` or `known`"));
            } else if meta.input.peek(Token![=]) {
                Way::Skipped(meta.value()?.parse::<Expr>()?.into_token_stream())
            } else {
                Way::Skipped(quote!(::core::default::Default::default()))
            };
            Ok(())
        })?;
    }
    Ok(way)
}
