//! Rules: consistency of code, YAML and pages, custom rules, key measures, parameters.

mod catalogue;
mod custom;
mod key_measures;
mod sufficient;
mod values_in_force;
