//! What uncertainties mean, in words.

/// The share of the test images that a network is surer of, above which an image is strange to it.
pub const STRANGE_RANK: f64 = 0.97;
/// The share above which it is unusual.
const UNUSUAL_RANK: f64 = 0.85;
/// The entropy above which an image is ambiguous, in nats.
const AMBIGUOUS: f64 = 0.7;

/// Whether an image is unlike anything seen in training, by the share of the test images whose mutual information is
/// smaller.
pub fn is_strange(rank: f64) -> bool {
    rank > STRANGE_RANK
}

/// Whether a network is sure of an image, by the entropy of its prediction, in nats, and by the share of the test
/// images that it is surer of.
pub fn is_sure(entropy: f64, rank: f64) -> bool {
    entropy <= AMBIGUOUS && rank <= UNUSUAL_RANK
}

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
        Some(rank) => (is_strange(rank), rank > UNUSUAL_RANK),
        None => (mutual_information > 0.2, mutual_information > 0.05),
    };
    match (strange, unusual) {
        (true, _) => "Unlike anything seen in training: the draws disagree.",
        _ if entropy > AMBIGUOUS => "The draws agree that it is ambiguous.",
        (_, true) => "The draws differ more than usual.",
        _ => SURE,
    }
}

const SURE: &str = "It is sure.";

/// Without draws there is nobody to disagree.
fn of_one_network(entropy: f64, rank: Option<f64>) -> &'static str {
    match rank {
        _ if entropy > AMBIGUOUS => "It is not sure; without draws there is no telling why.",
        Some(rank) if rank > UNUSUAL_RANK => {
            "It is less sure than usual; without draws there is no telling why."
        }
        _ => SURE,
    }
}

#[cfg(test)]
mod tests {
    use super::{is_strange, is_sure, verdict};

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

    #[test]
    fn the_sentence_says_what_the_limits_say() {
        for rank in [0.0, 0.5, 0.84, 0.86, 0.96, 0.98, 1.0] {
            for entropy in [0.0, 0.69, 0.71, 2.0] {
                let said = verdict(30, 0.1, entropy, Some(rank));
                assert_eq!(is_strange(rank), said.starts_with("Unlike"), "{said}");
                assert_eq!(is_sure(entropy, rank), said == "It is sure.", "{said}");
            }
        }
    }
}
