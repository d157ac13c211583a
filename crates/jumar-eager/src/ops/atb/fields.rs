//! The parameters of an operation, by name.

use super::refused::Refused;

/// The value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A boolean, an enumerator, a count.
    Int(i64),
    /// A factor.
    Float(f64),
}

/// The parameters of an operation, by name.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    /// The values.
    pub values: &'a [(&'a str, Number)],
}

/// The name under which a reserved byte that is not zero arrives, with its offset.
const RESERVED: &str = "rsv";

impl Fields<'_> {
    fn find(&self, name: &str) -> Option<Number> {
        let found = self.values.iter().find(|(own, _)| *own == name);
        found.map(|(_, value)| *value)
    }

    /// Returns an integer or an enumerator.
    pub(super) fn int(&self, name: &str) -> Result<i64, Refused> {
        match self.find(name) {
            Some(Number::Int(value)) => Ok(value),
            _ => Err(Refused::param(format!(
                "{name} is not among the parameters"
            ))),
        }
    }

    /// Returns a boolean.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Refused> {
        Ok(self.int(name)? != 0)
    }

    /// Returns a factor.
    pub(super) fn float(&self, name: &str) -> Result<f64, Refused> {
        match self.find(name) {
            Some(Number::Float(value)) => Ok(value),
            _ => Err(Refused::param(format!(
                "{name} is not among the parameters"
            ))),
        }
    }

    /// Refuses reserved bytes that are not zero: they belong to a parameter that is not known here.
    pub(super) fn check_reserved(&self, operation: &str) -> Result<(), Refused> {
        match self.find(RESERVED) {
            Some(Number::Int(offset)) => Err(Refused::param(format!(
                "byte {offset} of the parameters of {operation} is not zero and belongs to no parameter that is supported"
            ))
            .with_fix("Initialise the parameters with their defaults: {} or memset.")),
            _ => Ok(()),
        }
    }

    /// Returns an enumerator that has to be one of `known`: values and what they choose.
    pub(super) fn choice<T: Copy>(&self, name: &str, known: &[(i64, T)]) -> Result<T, Refused> {
        let value = self.int(name)?;
        let found = known.iter().find(|(own, _)| *own == value);
        found.map(|(_, chosen)| *chosen).ok_or_else(|| {
            let known: Vec<String> = known.iter().map(|(own, _)| own.to_string()).collect();
            Refused::param(format!(
                "{name} is {value}; supported are {}",
                known.join(", ")
            ))
        })
    }

    /// Refuses any value of a parameter but one.
    pub(super) fn only(&self, name: &str, value: i64) -> Result<(), Refused> {
        match self.int(name)? {
            own if own == value => Ok(()),
            own => Err(Refused::param(format!(
                "{name} is {own}, which is not supported; it must be {value}"
            ))),
        }
    }

    /// Returns a count of at least one.
    pub(super) fn positive(&self, name: &str) -> Result<i64, Refused> {
        match self.int(name)? {
            value if value > 0 => Ok(value),
            value => Err(Refused::param(format!(
                "{name} is {value}; it must be at least 1"
            ))),
        }
    }
}
