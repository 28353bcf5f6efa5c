//! Made-up merges: a base, what two sides did to it line by line, and agents that bring them together well or badly.
//!
//! Each agent works on what the sides did, not on their files, so what it lost is known without comparing anything.

use std::collections::BTreeSet;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use super::Side;

/// Numbers that depend on the seed alone.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }

    pub(super) fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    fn word(&mut self) -> String {
        format!("w{}", self.below(1 << 40))
    }
}

const EVERYWHERE: [&str; 6] = ["}", "return;", "} else {", "end", "", "   "];

/// A line of the base.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Line {
    /// One that may be anywhere.
    Common(&'static str),
    /// A call, by its words.
    Call(Vec<String>),
}

fn call(indent: &str, words: &[String]) -> String {
    format!("{indent}{}({});", words[0], words[1..].join(", "))
}

impl Line {
    pub(super) const fn is_common(&self) -> bool {
        matches!(self, Self::Common(_))
    }

    pub(super) fn text(&self) -> String {
        match self {
            Self::Common(text) => text.to_string(),
            Self::Call(words) => call("", words),
        }
    }

    pub(super) fn is_blank(&self) -> bool {
        self.text().trim().is_empty()
    }
}

/// What a side did to a line.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Edit {
    Keep,
    Delete,
    Replace(String),
    /// Another word in the place of one.
    Word(usize, String),
    Insert(usize, String),
    Drop(usize),
    Indent,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Work {
    pub(super) edits: Vec<Edit>,
    /// What was put before each line, and at the end.
    pub(super) inserts: Vec<Vec<String>>,
    /// A line that was taken from one place to another: which, and the gap.
    pub(super) moved: Option<(usize, usize)>,
}

/// A base and two sides.
#[derive(Debug, Clone)]
pub(super) struct Merge {
    pub(super) base: Vec<Line>,
    pub(super) works: [Work; 2],
}

pub(super) const fn index(side: Side) -> usize {
    match side {
        Side::Ours => 0,
        Side::Theirs => 1,
    }
}

impl Merge {
    pub(super) fn random(dice: &mut Dice) -> Self {
        let lines = 1 + dice.below(24);
        let line = |dice: &mut Dice| match dice.percent(30) {
            true => Line::Common(EVERYWHERE[dice.below(EVERYWHERE.len())]),
            false => Line::Call((0..4 + dice.below(2)).map(|_| dice.word()).collect()),
        };
        let base: Vec<Line> = (0..lines).map(|_| line(dice)).collect();
        let same = [dice.word(), dice.word()].map(|word| format!("use {word};"));
        let ours = Self::work(dice, &base, &same);
        let mut theirs = Self::work(dice, &base, &same);
        if dice.percent(5) {
            theirs = ours.clone();
        }
        Self { base, works: [ours, theirs] }
    }

    fn work(dice: &mut Dice, base: &[Line], same: &[String]) -> Work {
        let chance = 5 + dice.below(25);
        let edit = |dice: &mut Dice, line: &Line| match (dice.percent(chance), line) {
            (false, _) => Edit::Keep,
            (true, Line::Common(_)) => Edit::Delete,
            (true, Line::Call(words)) => match dice.below(6) {
                0 => Edit::Delete,
                1 => Edit::Replace(call("", &[dice.word(), dice.word(), dice.word()])),
                2 => Edit::Word(dice.below(words.len()), dice.word()),
                3 => Edit::Insert(dice.below(words.len()), dice.word()),
                4 => Edit::Drop(1 + dice.below(words.len() - 1)),
                _ => Edit::Indent,
            },
        };
        let mut edits: Vec<Edit> = base.iter().map(|line| edit(dice, line)).collect();
        let new = |dice: &mut Dice| match dice.below(10) {
            0 | 1 => EVERYWHERE[dice.below(EVERYWHERE.len())].to_string(),
            2 => same[dice.below(same.len())].clone(),
            _ => call("    ", &[dice.word(), dice.word()]),
        };
        let gap = |dice: &mut Dice| match dice.percent(chance) {
            true => (0..1 + dice.below(4)).map(|_| new(dice)).collect(),
            false => Vec::new(),
        };
        let mut inserts: Vec<Vec<String>> = (0..=base.len()).map(|_| gap(dice)).collect();
        // To remove a line and to write the same one anew is no change, or a move, and those are made below.
        let gone = |text: &String| {
            let mut gone = base.iter().zip(&edits).filter(|(_, edit)| **edit == Edit::Delete);
            gone.any(|(line, _)| line.text() == *text)
        };
        inserts.iter_mut().for_each(|lines| lines.retain(|text| !gone(text)));
        let (from, to) = (dice.below(base.len()), dice.below(base.len() + 1));
        let is_far = to + 2 < from || to > from + 2;
        let mut moved = None;
        let is_alone = |text: &String| !inserts.iter().flatten().any(|other| other == text) && !gone(text);
        let is_free = is_far && inserts[to].is_empty() && is_alone(&base[from].text());
        if dice.percent(30) && is_free && !base[from].is_blank() {
            edits[from] = Edit::Delete;
            inserts[to] = [base[from].text()].into();
            moved = Some((from, to));
        }
        Work { edits, inserts, moved }
    }

    pub(super) fn base_text(&self) -> String {
        joined(&self.base.iter().map(Line::text).collect::<Vec<_>>())
    }

    pub(super) fn side_text(&self, side: Side) -> String {
        joined(&self.built(&mut |this, at, lines| {
            let work = &this.works[index(side)];
            lines.extend(work.inserts[at].iter().cloned());
            if let (Some(line), Some(edit)) = (this.base.get(at), work.edits.get(at)) {
                lines.extend(applied(line, &[edit]));
            }
        }))
    }

    /// Whether a side added such a line, or changed or removed one.
    pub(super) fn is_touched_by(&self, side: Side, text: &str) -> bool {
        let work = &self.works[index(side)];
        let changed = self.base.iter().zip(&work.edits).filter(|(_, edit)| **edit != Edit::Keep);
        let is_changed = changed.into_iter().any(|(line, _)| line.text() == text);
        is_changed || work.inserts.iter().flatten().any(|other| other == text)
    }

    /// Whether the other side changed anything in the run of lines that a side removed.
    pub(super) fn is_changed_within(&self, side: Side, at: usize) -> bool {
        let (mine, others) = (&self.works[index(side)], &self.works[index(side.other())]);
        let is_gone = |at: &usize| mine.edits[*at] == Edit::Delete || self.base[*at].is_blank();
        let first = (0..at).rev().take_while(is_gone).last().unwrap_or(at);
        let last = (at..self.base.len()).take_while(is_gone).last().unwrap_or(at);
        let is_changed = |at: usize| !matches!(others.edits[at], Edit::Keep | Edit::Delete);
        let is_parted = |gap: usize| !others.inserts[gap].is_empty();
        (first..=last).any(is_changed) || (first + 1..=last).any(is_parted)
    }

    /// Whether there is a line between two places that is there once and nobody changed.
    pub(super) fn is_past_something(&self, from: usize, to: usize) -> bool {
        let between = if from < to { from + 1..to } else { to..from };
        let is_kept = |at: usize| self.works.iter().all(|work| work.edits[at] == Edit::Keep);
        between.into_iter().any(|at| is_kept(at) && !self.base[at].is_common())
    }

    /// What an agent makes of gap after gap, each with the line behind it.
    fn built(&self, resolve: &mut dyn FnMut(&Self, usize, &mut Vec<String>)) -> Vec<String> {
        let mut lines = Vec::new();
        (0..=self.base.len()).for_each(|at| resolve(self, at, &mut lines));
        lines
    }

    /// Both sides kept, in one of the ways an honest agent has.
    pub(super) fn faithful(&self, dice: &mut Dice) -> String {
        joined(&self.built(&mut |this, at, lines| this.keep_both(dice, at, lines)))
    }

    pub(super) fn keep_both(&self, dice: &mut Dice, at: usize, lines: &mut Vec<String>) {
        let [ours, theirs] = &self.works;
        let mut inserts = [ours.inserts[at].clone(), theirs.inserts[at].clone()];
        if dice.percent(50) {
            inserts.reverse();
        }
        if inserts[0] == inserts[1] && dice.percent(70) {
            inserts[1].clear();
        }
        lines.extend(inserts.concat());
        if let Some(line) = self.base.get(at) {
            lines.extend(both(dice, line, &ours.edits[at], &theirs.edits[at]));
        }
    }

    /// What is left when changes of one side are forgotten: at a gap, and at the line behind it.
    pub(super) fn without(
        &self,
        dice: &mut Dice,
        side: Side,
        gaps: &BTreeSet<usize>,
        at: &BTreeSet<usize>,
    ) -> String {
        let mut less = self.clone();
        let work = &mut less.works[index(side)];
        gaps.iter().for_each(|gap| work.inserts[*gap].clear());
        at.iter().for_each(|at| work.edits[*at] = Edit::Keep);
        less.faithful(dice)
    }

    /// As git leaves it: everything kept, with marks around one of the places.
    pub(super) fn marked(&self, dice: &mut Dice) -> String {
        let place = dice.below(self.base.len() + 1);
        let mark = ["<<<<<<< 0123abc", "=======", ">>>>>>> 4567def"][dice.below(3)];
        joined(&self.built(&mut |this, at, lines| {
            this.keep_both(dice, at, lines);
            if at == place {
                lines.push(mark.to_string());
            }
        }))
    }
}

fn joined(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A line with edits that do not get in each other's way.
pub(super) fn applied(line: &Line, edits: &[&Edit]) -> Option<String> {
    let (mut indent, mut words) = match line {
        Line::Common(_) => ("", Vec::new()),
        Line::Call(words) => ("", words.iter().map(|word| [word.clone()].to_vec()).collect()),
    };
    let mut text = line.text();
    for edit in edits {
        match edit {
            Edit::Keep => continue,
            Edit::Delete => return None,
            Edit::Replace(text) => return Some(text.clone()),
            Edit::Word(at, word) => words[*at][0] = word.clone(),
            Edit::Insert(at, word) => words[*at].push(word.clone()),
            Edit::Drop(at) => {
                words[*at].remove(0);
            }
            Edit::Indent => indent = "    ",
        }
        text = call(indent, &words.concat());
    }
    Some(text)
}

/// What an honest agent makes of a line that both sides may have changed.
fn both(dice: &mut Dice, line: &Line, ours: &Edit, theirs: &Edit) -> Vec<String> {
    let one = |edit: &Edit| applied(line, &[edit]).into_iter().collect::<Vec<_>>();
    match (ours, theirs) {
        (Edit::Keep | Edit::Delete, edit) if *edit != Edit::Keep => one(edit),
        (edit, Edit::Keep | Edit::Delete) => one(if *edit == Edit::Keep { theirs } else { edit }),
        (ours, theirs) if ours == theirs => one(ours),
        (ours, theirs) if is_apart(ours, theirs) && dice.percent(70) => {
            applied(line, &[ours, theirs]).into_iter().collect()
        }
        (ours, theirs) => [one(ours), one(theirs)].concat(),
    }
}

/// Whether one line can hold both.
pub(super) fn is_apart(ours: &Edit, theirs: &Edit) -> bool {
    let place = |edit: &Edit| match edit {
        Edit::Word(at, _) | Edit::Drop(at) => Some(Some(*at)),
        Edit::Insert(_, _) | Edit::Indent => Some(None),
        Edit::Keep | Edit::Delete | Edit::Replace(_) => None,
    };
    match (place(ours), place(theirs)) {
        (Some(Some(ours)), Some(Some(theirs))) => ours != theirs,
        (Some(_), Some(_)) => true,
        (_, _) => false,
    }
}
