//! What uncertainties mean, in words.

/// One sentence on the mutual information and the entropy of a prediction, in nats.
pub fn verdict(mutual_information: f64, entropy: f64) -> &'static str {
    match (mutual_information, entropy) {
        (information, _) if information > 0.2 => "The draws disagree: it has not seen the like.",
        (_, entropy) if entropy > 0.7 => "The draws agree that it is ambiguous.",
        (information, _) if information > 0.05 => "The draws differ a little.",
        _ => "It is sure.",
    }
}
