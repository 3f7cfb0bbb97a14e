//! What uncertainties mean, in words.

/// One sentence on the mutual information and the entropy of a prediction, in nats. Where test images tell what is
/// usual, `rank` is the share of them that the network is surer of; else the numbers speak for themselves.
pub fn verdict(
    draws: usize,
    mutual_information: f64,
    entropy: f64,
    rank: Option<f64>,
) -> &'static str {
    if draws < 2 {
        return of_one_network(entropy, rank);
    }
    let (strange, unusual) = match rank {
        Some(rank) => (rank > 0.97, rank > 0.85),
        None => (mutual_information > 0.2, mutual_information > 0.05),
    };
    match (strange, unusual) {
        (true, _) => "Unlike anything seen in training: the draws disagree.",
        _ if entropy > 0.7 => "The draws agree that it is ambiguous.",
        (_, true) => "The draws differ more than usual.",
        _ => SURE,
    }
}

const SURE: &str = "It is sure.";

/// Without draws there is nobody to disagree.
fn of_one_network(entropy: f64, rank: Option<f64>) -> &'static str {
    match rank {
        _ if entropy > 0.7 => "It is not sure; without draws there is no telling why.",
        Some(rank) if rank > 0.85 => {
            "It is less sure than usual; without draws there is no telling why."
        }
        _ => SURE,
    }
}

#[cfg(test)]
mod tests {
    use super::verdict;

    #[test]
    fn only_draws_are_said_to_disagree_or_agree() {
        for (entropy, rank) in [(1.9, Some(0.99)), (1.9, None), (0.3, Some(0.9))] {
            let said = verdict(0, 0.0, entropy, rank);
            assert!(
                said.contains("sure") && !said.contains("The draws"),
                "{said}"
            );
        }
        assert_eq!(verdict(0, 0.0, 0.01, Some(0.2)), "It is sure.");
        assert!(verdict(30, 0.9, 1.9, None).contains("Unlike anything seen in training"));
        assert!(verdict(30, 0.01, 1.9, None).contains("The draws agree"));
    }
}
