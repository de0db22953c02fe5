//! Rules: what their code, YAML and pages say, custom rules, key measures, parameters.

mod catalogue;
mod custom;
mod key_measures;
mod values_in_force;
