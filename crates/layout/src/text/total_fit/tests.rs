//! Total fit of words whose widths look random.

use super::*;

const WIDE: f32 = 100.0;

/// Numbers that look random but are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % below
    }
}

/// Words of 4 to 40 points, some with hyphenation points, with spaces of 3 points.
fn text(numbers: &mut Numbers, words: usize) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    let (mut x, mut glue) = (0.0, Glue::default());
    for word in 0..words {
        let width = 4.0 + numbers.next(36) as f64;
        let mut candidate = Candidate {
            end: x,
            end_glue: glue,
            next: x,
            next_glue: glue,
            ending: Ending::Hyphen,
            atom: word as u32,
            point: 0,
        };
        for point in 1..=numbers.next(3) {
            let head = x + width * point as f64 / 4.0;
            candidates.push(Candidate {
                end: head + 3.5,
                next: head,
                point: point as u16,
                ..candidate
            });
        }
        candidate.end = x + width;
        x += width + 3.0;
        glue.stretch += 1.5;
        glue.shrink += 1.0;
        (candidate.next, candidate.next_glue) = (x, glue);
        candidate.ending = match word + 1 == words {
            true => Ending::Last,
            false => Ending::Plain,
        };
        candidates.push(candidate);
    }
    candidates
}

fn measure(justified: bool) -> Measure {
    Measure {
        limits: [WIDE - 20.0, WIDE],
        justified,
        after_hyphen: false,
        tracking: false,
    }
}

#[test]
fn lines_fit_and_never_more_than_two_hyphens_follow_each_other() {
    let mut numbers = Numbers(7);
    for round in 0..400 {
        let candidates = text(&mut numbers, 4 + round % 90);
        let measure = measure(round % 2 == 0);
        let Fit::Whole(ends) = total_fit(&candidates, measure, Looseness::Any) else {
            panic!("every word is narrower than a line");
        };
        assert_eq!(ends.last(), Some(&(candidates.len() - 1)));
        let (mut next, mut glue, mut hyphens) = (0.0, Glue::default(), 0);
        for (line, index) in ends.iter().enumerate() {
            let end = &candidates[*index];
            let shrink = end.end_glue.since(glue).shrink;
            let most = f64::from(measure.limits[usize::from(line > 0)])
                + if measure.justified { shrink } else { 0.0 }
                + 0.02;
            assert!(end.end > next && end.end - next <= most, "round {round}");
            hyphens = match end.ending {
                Ending::Hyphen => hyphens + 1,
                _ => 0,
            };
            assert!(hyphens <= MAX_HYPHENS, "round {round}");
            (next, glue) = (end.next, end.next_glue);
        }
    }
}

#[test]
fn few_lines_are_loose_and_no_hyphen_stands_before_the_last() {
    let mut numbers = Numbers(3);
    for _ in 0..100 {
        let candidates = text(&mut numbers, 60);
        let fit = total_fit(&candidates, measure(true), Looseness::Any);
        let Fit::Whole(ends) = fit else { panic!() };
        let before_last = &candidates[ends[ends.len() - 2]];
        assert_ne!(before_last.ending, Ending::Hyphen);
    }
}

/// Two lines, of which the first is full with a hyphen and gapes without.
#[test]
fn no_hyphen_stands_before_the_last_line_however_loose_the_line_is_without() {
    let candidate = |end: f64, ending| Candidate {
        end,
        end_glue: Glue::default(),
        next: end,
        next_glue: Glue::default(),
        ending,
        atom: 0,
        point: 0,
    };
    for (first, expected) in [
        (40.0, Fit::Whole(vec![0, 2])),
        // Too short for a line while there is another way.
        (20.0, Fit::Impossible),
    ] {
        let mut candidates = vec![
            candidate(first, Ending::Plain),
            candidate(79.0, Ending::Hyphen),
            candidate(110.0, Ending::Last),
        ];
        let fair = total_fit(&candidates, measure(true), Looseness::Most(2.8));
        assert_eq!(fair, Fit::Impossible);
        let any = total_fit(&candidates, measure(true), Looseness::Any);
        assert_eq!(any, expected);
        candidates.remove(1);
        let plain = total_fit(&candidates, measure(true), Looseness::Any);
        assert_eq!(plain, Fit::Whole(vec![0, 1]));
    }
}

#[test]
fn looseness_is_a_limit() {
    let mut numbers = Numbers(11);
    let candidates = text(&mut numbers, 60);
    let tight = total_fit(&candidates, measure(true), Looseness::Most(0.01));
    assert_eq!(tight, Fit::Impossible);
}

#[test]
fn a_word_wider_than_the_line_ends_the_fit_before_it() {
    let mut candidates = text(&mut Numbers(5), 40);
    let wide = candidates.iter().position(|one| one.atom == 20).unwrap();
    for candidate in &mut candidates[wide..] {
        candidate.end += 500.0;
        candidate.next += 500.0;
    }
    let fit = total_fit(&candidates, measure(true), Looseness::Any);
    let Fit::Stuck(ends) = fit else {
        panic!("{fit:?}")
    };
    assert!(candidates[*ends.last().unwrap()].atom < 20);
}
