//! Dependency graphs: unknown dependencies, cycles and topological order.
//!
//! Works over names and a closure, so that plans, tasks and actions share it. Names that no node has are
//! ignored by the searches; [`unknown_dependencies`] is where they are found.

use crate::prelude::*;

/// Dependencies by node: what each node waits for.
pub(crate) type Edges<Id> = BTreeMap<Id, Vec<Id>>;

/// Pairs of a node and a dependency of it that no node is.
pub(crate) fn unknown_dependencies<Id: Ord + Clone>(edges: &Edges<Id>) -> Vec<(Id, Id)> {
    let unknown = |(node, dependencies): (&Id, &Vec<Id>)| {
        let missing: BTreeSet<Id> =
            dependencies.iter().filter(|dependency| !edges.contains_key(*dependency)).cloned().collect();
        missing.into_iter().map(|dependency| (node.clone(), dependency)).collect::<Vec<_>>()
    };
    edges.iter().flat_map(unknown).collect()
}

/// Each id once, where it stands first.
pub(crate) fn without_repeats<Id: Ord + Clone>(ids: impl Iterator<Item = Id>) -> Vec<Id> {
    let mut seen = BTreeSet::new();
    ids.filter(|id| seen.insert(id.clone())).collect()
}

/// Ids that stand more than once in a list, each once.
pub(crate) fn duplicates<'a, Id: Ord>(ids: impl IntoIterator<Item = &'a Id>) -> Vec<&'a Id> {
    let mut seen = BTreeSet::new();
    let mut twice = BTreeSet::new();
    for id in ids {
        if !seen.insert(id) {
            twice.insert(id);
        }
    }
    twice.into_iter().collect()
}

/// The nodes of a graph, dependencies first.
pub(crate) struct TopologicalSort<Id> {
    /// Every node after all it waits for, as far as there is such an order.
    pub(crate) order: Vec<Id>,
    /// The nodes of one circle in the order in which each waits for the next, if there is one. A node that
    /// waits for itself is a circle of one.
    pub(crate) cycle: Option<Vec<Id>>,
}

/// Sorts a graph topologically. Iterative, so that a long chain cannot exhaust the stack.
pub(crate) fn topological_sort<Id: Ord + Clone>(edges: &Edges<Id>) -> TopologicalSort<Id> {
    let mut finished: BTreeSet<&Id> = BTreeSet::new();
    let mut sorted = TopologicalSort { order: Vec::with_capacity(edges.len()), cycle: None };
    for start in edges.keys() {
        if finished.contains(start) {
            continue;
        }
        let mut path: Vec<(&Id, vec::IntoIter<&Id>)> = vec![(start, successors(edges, start))];
        let mut on_path: BTreeSet<&Id> = BTreeSet::from([start]);
        while let Some((node, waiting_for)) = path.last_mut() {
            match waiting_for.next() {
                Some(next) if on_path.contains(next) => {
                    let circle = path.iter().map(|(id, _)| *id).skip_while(|id| *id != next);
                    sorted.cycle.get_or_insert_with(|| circle.cloned().collect());
                }
                Some(next) if finished.contains(next) => {}
                Some(next) => {
                    on_path.insert(next);
                    path.push((next, successors(edges, next)));
                }
                None => {
                    on_path.remove(node);
                    finished.insert(*node);
                    sorted.order.push((*node).clone());
                    path.pop();
                }
            }
        }
    }
    sorted
}

/// The part of a graph that some nodes rest on, these included. Names that no node has stay as they are.
pub(crate) fn reachable_from<Id: Ord + Clone>(
    edges: &Edges<Id>,
    from: impl IntoIterator<Item = Id>,
) -> Edges<Id> {
    let mut reached = Edges::new();
    let mut waiting: Vec<Id> = from.into_iter().collect();
    while let Some(node) = waiting.pop() {
        if let (false, Some(dependencies)) = (reached.contains_key(&node), edges.get(&node)) {
            waiting.extend(dependencies.iter().cloned());
            reached.insert(node, dependencies.clone());
        }
    }
    reached
}

pub(crate) fn find_cycle<Id: Ord + Clone>(edges: &Edges<Id>) -> Option<Vec<Id>> {
    topological_sort(edges).cycle
}

fn successors<'a, Id: Ord>(edges: &'a Edges<Id>, node: &Id) -> vec::IntoIter<&'a Id> {
    let known: Vec<&'a Id> = edges
        .get(node)
        .into_iter()
        .flatten()
        .filter_map(|next| edges.get_key_value(next).map(|(known, _)| known))
        .collect();
    known.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn edges(list: &[(u32, &[u32])]) -> Edges<u32> {
        list.iter().map(|(node, dependencies)| (*node, dependencies.to_vec())).collect()
    }

    #[test]
    fn circles_are_found_and_named_in_order() {
        assert_eq!(find_cycle(&edges(&[(1, &[2]), (2, &[3]), (3, &[])])), None);
        assert_eq!(find_cycle(&edges(&[(1, &[1])])), Some(vec![1]));
        assert_eq!(find_cycle(&edges(&[(1, &[2]), (2, &[3]), (3, &[2])])), Some(vec![2, 3]));
        assert_eq!(find_cycle(&edges(&[(1, &[9]), (2, &[1])])), None, "an unknown name is no circle");
    }

    #[test]
    fn a_long_chain_is_no_problem() {
        let chain: Edges<u32> = (0..200_000).map(|node| (node, vec![node + 1])).collect();
        assert_eq!(find_cycle(&chain), None);
    }

    #[test]
    fn the_part_below_some_nodes() {
        let graph = edges(&[(1, &[2]), (2, &[3, 9]), (3, &[2]), (4, &[1])]);
        assert_eq!(reachable_from(&graph, [2]), edges(&[(2, &[3, 9]), (3, &[2])]));
        assert_eq!(reachable_from(&graph, []), edges(&[]));
    }

    #[test]
    fn unknown_names_and_duplicates() {
        assert_eq!(unknown_dependencies(&edges(&[(1, &[2, 7, 7]), (2, &[])])), vec![(1, 7)]);
        assert_eq!(duplicates(&[1, 2, 1, 3, 1, 2]), vec![&1, &2]);
    }

    proptest! {
        /// Catches a search that forgets to leave a node (`on_path.remove`): it would see circles in diamonds.
        #[test]
        fn a_circle_exists_exactly_where_no_order_does(
            pairs in proptest::collection::vec((0u32..7, 0u32..7), 0..14)
        ) {
            let mut graph: Edges<u32> = (0..7).map(|node| (node, vec![])).collect();
            for (node, dependency) in pairs {
                graph.get_mut(&node).unwrap().push(dependency);
            }
            let mut left = graph.clone();
            while let Some(free) =
                left.iter().find(|(_, deps)| deps.iter().all(|d| !left.contains_key(d))).map(|(n, _)| *n)
            {
                left.remove(&free);
            }
            let order = topological_sort(&graph).order;
            prop_assert_eq!(order.len(), graph.len());
            let found = find_cycle(&graph);
            if found.is_none() {
                let place = |node: &u32| order.iter().position(|other| other == node);
                for (node, dependencies) in &graph {
                    prop_assert!(dependencies.iter().all(|below| place(below) < place(node)));
                }
            }
            prop_assert_eq!(found.is_some(), !left.is_empty());
            if let Some(circle) = found {
                for (node, next) in circle.iter().zip(circle.iter().cycle().skip(1)) {
                    prop_assert!(graph[node].contains(next));
                }
            }
        }
    }
}
