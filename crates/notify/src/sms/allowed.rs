//! Which numbers SMS may be sent to.

use perigee_core::accounts::country::Country;
use perigee_core::notifications::phone::PhoneNumber;

use super::calling_code::{country_code_of, prefixes_of};

/// The country of a number; `None` for satellite and other international networks and for toll-free numbers.
fn country_of(number: &PhoneNumber) -> Option<Country> {
    country_code_of(number.digits())?.parse().ok()
}

/// Countries by code, and prefixes of numbers (`+8816` for a satellite network), that SMS may be sent to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedCountries {
    countries: Vec<Country>,
    prefixes: Vec<String>,
}

/// The error for an entry that is neither a country nor a prefix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" must be a country code such as ES, or the beginning of a number such as +8816")]
pub struct ParseAllowedError(String);

impl AllowedCountries {
    /// Parses a list; an empty one allows every number.
    pub fn parse(entries: &[String]) -> Result<Self, ParseAllowedError> {
        let mut allowed = Self::default();
        for entry in entries {
            let refused = || ParseAllowedError(entry.clone());
            if let Some(digits) = entry.strip_prefix('+') {
                let fits =
                    (1..=15).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
                allowed.prefixes.push(fits.then(|| digits.to_owned()).ok_or_else(refused)?);
            } else {
                allowed.countries.push(entry.parse().map_err(|_detail| refused())?);
            }
        }
        Ok(allowed)
    }

    /// The same as prefixes, such as `+34`; empty if every number is allowed.
    pub fn prefixes(&self) -> Vec<String> {
        let of_countries = self.countries.iter().flat_map(|country| prefixes_of(country.code()));
        self.prefixes.iter().cloned().chain(of_countries).map(|digits| format!("+{digits}")).collect()
    }

    /// Whether SMS may be sent to this number.
    pub fn allow(&self, number: &PhoneNumber) -> bool {
        let everywhere = self.countries.is_empty() && self.prefixes.is_empty();
        everywhere
            || self.prefixes.iter().any(|prefix| number.digits().starts_with(prefix))
            || country_of(number).is_some_and(|country| self.countries.contains(&country))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn country(number: &str) -> Option<&'static str> {
        country_of(&number.parse().unwrap()).map(Country::code)
    }

    #[test]
    fn knows_countries_within_shared_codes() {
        let cases = [
            ("+34600123456", "ES"),
            ("+14165550100", "CA"),
            ("+12125550100", "US"),
            ("+18095550100", "DO"),
            ("+17875550100", "PR"),
            ("+79161234567", "RU"),
            ("+77012345678", "KZ"),
            ("+447700900123", "JE"),
            ("+447911123456", "GG"),
            ("+442071234567", "GB"),
            ("+262639123456", "YT"),
            ("+262692123456", "RE"),
            ("+59995551234", "CW"),
            ("+5215512345678", "MX"),
        ];
        for (number, expect) in cases {
            assert_eq!(country(number), Some(expect), "{number}");
        }
        for nowhere in ["+881612345678", "+870123456789", "+999123456789"] {
            assert_eq!(country(nowhere), None, "{nowhere}");
        }
    }

    #[test]
    fn lists_allow_countries_and_prefixes() {
        let list = |entries: &[&str]| {
            AllowedCountries::parse(&entries.iter().map(|entry| (*entry).to_owned()).collect::<Vec<_>>())
        };
        let (spain, iridium) = ("+34600123456".parse().unwrap(), "+881612345678".parse().unwrap());
        assert!(list(&[]).unwrap().allow(&iridium));
        let some = list(&["ES", "+8816"]).unwrap();
        assert!(some.allow(&spain) && some.allow(&iridium));
        assert!(!some.allow(&"+33600123456".parse().unwrap()));
        assert!(list(&["Narnia"]).is_err() && list(&["+x"]).is_err());
    }

    #[test]
    fn prefixes_allow_the_same_as_countries() {
        let numbers = [
            "+34600123456",
            "+14165550100",
            "+12125550100",
            "+18095550100",
            "+79161234567",
            "+77012345678",
            "+447700900123",
            "+442071234567",
            "+881612345678",
        ];
        for country in ["ES", "US", "CA", "RU", "KZ", "GB", "JE"] {
            let allowed = AllowedCountries::parse(&[country.to_owned()]).unwrap();
            let prefixes = allowed.prefixes();
            for number in numbers.map(|text| text.parse::<PhoneNumber>().unwrap()) {
                let listed = prefixes.iter().any(|prefix| number.as_str().starts_with(prefix));
                assert_eq!(listed, allowed.allow(&number), "{number} in {country}");
            }
        }
    }
}
