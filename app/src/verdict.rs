//! What uncertainties mean, in words.

/// One sentence on the mutual information and the entropy of a prediction, in nats. Where test pictures tell what is
/// usual, `rank` is the share of them that the network is surer of; else the numbers speak for themselves.
pub fn verdict(mutual_information: f64, entropy: f64, rank: Option<f64>) -> &'static str {
    let (strange, unusual) = match rank {
        Some(rank) => (rank > 0.97, rank > 0.85),
        None => (mutual_information > 0.2, mutual_information > 0.05),
    };
    match (strange, unusual) {
        (true, _) => "The draws disagree: it has hardly seen the like.",
        _ if entropy > 0.7 => "The draws agree that it is ambiguous.",
        (_, true) => "The draws differ more than usual.",
        _ => "It is sure.",
    }
}
