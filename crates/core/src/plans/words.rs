//! Words by which travellers steer a plan in texts of their device, such as "extend 2h".

use super::PlanWords;

/// Built-in words for a check-in, in the languages of the service.
const CHECK_IN: &[&str] = &[
    "ok",
    "okay",
    "check in",
    "checkin",
    "check-in",
    "i am well",
    "all ok",
    "all well",
    "estoy bien",
    "todo bien",
    "je vais bien",
    "tout va bien",
    "mir geht es gut",
    "alles gut",
    "alles ok",
    "estou bem",
    "tudo bem",
    "sto bene",
    "tutto bene",
];
const END: &[&str] = &[
    "end",
    "arrived",
    "fin",
    "terminar",
    "llegado",
    "fini",
    "terminer",
    "arrive",
    "ende",
    "angekommen",
    "fim",
    "cheguei",
    "fine",
    "arrivato",
    "arrivata",
];
const PAUSE: &[&str] = &["pause", "pausa"];
const RESUME: &[&str] = &[
    "resume",
    "continue",
    "continuar",
    "reanudar",
    "reprendre",
    "continuer",
    "weiter",
    "fortsetzen",
    "retomar",
    "riprendi",
    "continua",
];
const EXTEND: &[&str] =
    &["extend", "prolongar", "ampliar", "prolonger", "verlaengern", "estender", "prolunga", "estendi"];

/// Minutes of an extension that names none.
const EXTEND_MINUTES: u32 = 60;

/// What a text asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// It begins with a word for a check-in.
    CheckIn,
    /// To end the plan.
    End,
    /// To pause it, for these minutes or until it is resumed.
    Pause(Option<u32>),
    /// To resume it.
    Resume,
    /// To extend it by these minutes.
    Extend(u32),
}

/// Lower case, without accents and punctuation, with single spaces; `:` and digits stay for times.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars().flat_map(char::to_lowercase) {
        match letter {
            'á' | 'à' | 'â' | 'ã' => plain.push('a'),
            'ä' => plain.push_str("ae"),
            'é' | 'è' | 'ê' | 'ë' => plain.push('e'),
            'í' | 'ì' | 'î' | 'ï' => plain.push('i'),
            'ó' | 'ò' | 'ô' | 'õ' => plain.push('o'),
            'ö' => plain.push_str("oe"),
            'ú' | 'ù' | 'û' => plain.push('u'),
            'ü' => plain.push_str("ue"),
            'ç' => plain.push('c'),
            'ñ' => plain.push('n'),
            letter if letter.is_alphanumeric() || letter == ':' => plain.push(letter),
            _ => plain.push(' '),
        }
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The rest of a text after one of these words, if it begins with one; the longest counts.
fn after<'t>(text: &'t str, own: Option<&Vec<String>>, built_in: &[&str]) -> Option<&'t str> {
    let rest = |word: &str| {
        let word = plain(word);
        let rest = text.strip_prefix(&word).filter(|_| !word.is_empty())?;
        (rest.is_empty() || rest.starts_with(' ')).then(|| rest.trim_start())
    };
    match own {
        Some(words) => words.iter().filter_map(|word| rest(word)).min_by_key(|rest| rest.len()),
        None => built_in.iter().filter_map(|word| rest(word)).min_by_key(|rest| rest.len()),
    }
}

/// Minutes of a text such as `2h`, `90 min`, `1h30`, `1:30`, `45` or `1d`.
fn minutes(text: &str) -> Option<u32> {
    let text: String = text.chars().filter(|letter| *letter != ' ').collect();
    if let Some((hours, minutes)) = text.split_once(':') {
        return parts(hours, minutes);
    }
    let unit_at = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let number: u32 = number.parse().ok()?;
    let rest_at = unit.find(|letter: char| letter.is_ascii_digit()).unwrap_or(unit.len());
    let (unit, rest) = unit.split_at(rest_at);
    let factor = match unit {
        "" | "m" | "min" | "mins" | "minutes" | "minutos" | "minuten" | "minuti" => 1,
        "h" | "hr" | "hrs" | "hour" | "hours" | "hora" | "horas" | "heure" | "heures" | "std" | "stunden"
        | "ora" | "ore" => 60,
        "d" | "day" | "days" | "dia" | "dias" | "jour" | "jours" | "tag" | "tage" | "giorno" | "giorni" => {
            1_440
        }
        _ => return None,
    };
    let more = match rest.trim_end_matches(|letter: char| letter.is_alphabetic()) {
        "" => 0,
        more if factor == 60 => more.parse::<u32>().ok()?,
        _ => return None,
    };
    number.checked_mul(factor)?.checked_add(more)
}

fn parts(hours: &str, minutes: &str) -> Option<u32> {
    hours.parse::<u32>().ok()?.checked_mul(60)?.checked_add(minutes.parse().ok().filter(|rest| *rest < 60)?)
}

/// What a text of a device asks for. A word that steers the plan must be the whole text, so that no sentence does so by
/// chance.
pub fn read_order(text: &str, words: &PlanWords) -> Option<Order> {
    let text = plain(text);
    let most = super::PlanSettings::EXTEND_MAX;
    if after(&text, words.end.as_ref(), END) == Some("") {
        return Some(Order::End);
    }
    if after(&text, words.resume.as_ref(), RESUME) == Some("") {
        return Some(Order::Resume);
    }
    match after(&text, words.extend.as_ref(), EXTEND) {
        Some("") => return Some(Order::Extend(EXTEND_MINUTES)),
        Some(rest) => {
            if let Some(minutes) = minutes(rest).filter(|minutes| (1..=most).contains(minutes)) {
                return Some(Order::Extend(minutes));
            }
        }
        None => {}
    }
    match after(&text, words.pause.as_ref(), PAUSE) {
        Some("") => return Some(Order::Pause(None)),
        Some(rest) => {
            if let Some(minutes) = minutes(rest).filter(|minutes| (1..=most).contains(minutes)) {
                return Some(Order::Pause(Some(minutes)));
            }
        }
        None => {}
    }
    after(&text, words.check_in.as_ref(), CHECK_IN).map(|_| Order::CheckIn)
}
