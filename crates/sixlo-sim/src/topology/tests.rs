use super::*;
use crate::config::{Chain, Csv, Grid, RouteChoice, Topology, TreeNetwork};

fn within(network: &Network, range: f64) -> impl Fn(u16, u16) -> bool {
    move |a, b| network.distance_m(a, b) <= range
}

fn routes(network: &Network) -> Routes {
    Routes::build(network, RouteChoice::Auto, within(network, 6.5)).expect("every node is reached")
}

fn nodes_at_depths(routes: &Routes, network: &Network) -> Vec<usize> {
    let deepest = network.indices().map(|n| routes.depth(n)).max().unwrap_or(0);
    (1..=deepest)
        .map(|d| network.indices().filter(|&n| routes.depth(n) == d).count())
        .collect()
}

#[test]
fn the_measured_network_has_2_3_7_9_15_and_13_nodes_at_its_depths() {
    let network = Network::build(&Topology::Lille50, 1).unwrap();
    assert_eq!(network.nodes.len(), 50);
    assert_eq!(network.nodes[0].name, "m3-57");
    assert_eq!(nodes_at_depths(&routes(&network), &network), [2, 3, 7, 9, 15, 13]);
}

#[test]
fn the_links_of_the_measured_network_are_as_long_as_its_file_says() {
    let network = Network::build(&Topology::Lille50, 1).unwrap();
    for (node, line) in network.indices().zip(LILLE_50.lines().skip(1)).skip(1) {
        let stated: f64 = line.rsplit(',').next().unwrap().parse().unwrap();
        let parent = network.nodes[usize::from(node)].parent.unwrap();
        assert!(
            (network.distance_m(node, parent) - stated).abs() < 0.011,
            "{line}"
        );
        assert!((2.2..=6.5).contains(&stated));
    }
}

#[test]
fn forty_five_nodes_of_the_measured_network_would_have_shorter_routes() {
    let network = Network::build(&Topology::Lille50, 1).unwrap();
    let along = routes(&network);
    let short = Routes::build(&network, RouteChoice::Shortest, within(&network, 6.5)).unwrap();
    let shorter = network
        .indices()
        .filter(|&n| short.depth(n) < along.depth(n))
        .count();
    let longer = network
        .indices()
        .filter(|&n| short.depth(n) > along.depth(n))
        .count();
    assert_eq!((shorter, longer), (45, 0));
}

#[test]
fn addresses_are_made_of_the_node_number() {
    let network = Network::build(&Topology::Lille50, 1).unwrap();
    assert_eq!(network.link_addr(0, Addresses::Short), LinkAddr::Short(1));
    assert_eq!(
        network.link_addr(49, Addresses::Extended),
        LinkAddr::Extended([2, 0, 0, 0, 0, 0, 0, 50])
    );
}

#[test]
fn grown_networks_keep_the_rule_and_repeat_for_a_seed() {
    let rule = TreeNetwork::default();
    for seed in 0..20 {
        let network = Network::build(&Topology::Tree(rule.clone()), seed).unwrap();
        assert_eq!(network.nodes.len(), 50);
        let mut children = [0; 50];
        for node in 1..50 {
            let parent = network.nodes[usize::from(node)].parent.unwrap();
            children[usize::from(parent)] += 1;
            assert!((2.2..=6.5).contains(&network.distance_m(node, parent)));
            assert!(parent < node, "breadth-first");
        }
        assert_eq!(children[0], 2);
        assert!(children.iter().all(|&n| n <= 3));
        assert_eq!(
            network,
            Network::build(&Topology::Tree(rule.clone()), seed).unwrap()
        );
        assert_ne!(
            network,
            Network::build(&Topology::Tree(rule.clone()), seed + 1).unwrap()
        );
    }
}

#[test]
fn a_network_with_its_own_seed_is_the_same_in_every_run() {
    let grid = |network_seed| {
        Topology::Grid(Grid {
            nodes: 9,
            columns: None,
            spacing_m: 5.0,
            jitter_m: 1.0,
            network_seed,
        })
    };
    assert_eq!(
        Network::build(&grid(Some(7)), 1),
        Network::build(&grid(Some(7)), 2)
    );
    assert_ne!(Network::build(&grid(None), 1), Network::build(&grid(None), 2));
}

#[test]
fn the_sink_of_a_grid_is_in_the_middle() {
    let grid = Grid {
        nodes: 23,
        columns: None,
        spacing_m: 5.0,
        jitter_m: 0.0,
        network_seed: None,
    };
    let network = Network::build(&Topology::Grid(grid), 1).unwrap();
    assert_eq!(network.nodes[0].at_m, [10.0, 10.0, 0.0]);
    assert_eq!(network.nodes[1].at_m, [0.0, 0.0, 0.0]);
    assert_eq!(network.nodes[22].at_m, [10.0, 20.0, 0.0]);
    // Hops in a grid without diagonals: the sum of both offsets.
    let routes = Routes::build(&network, RouteChoice::Auto, within(&network, 5.1)).unwrap();
    assert_eq!(routes.depth(1), 4);
    assert_eq!(routes.hops(1, 22), 6);
}

#[test]
fn the_t_of_section_v_has_the_stated_links() {
    let network = Network::build(&Topology::FbT, 1).unwrap();
    let routes = routes(&network);
    assert_eq!(nodes_at_depths(&routes, &network), [1, 2, 2, 2]);
    assert_eq!(routes.to_sink(4).collect::<Vec<_>>(), [4, 3, 2, 1, 0]);
    assert_eq!(routes.hops(4, 7), 6);
    let behind_f = &routes.descendants()[1];
    assert_eq!(behind_f, &[(2, 2), (3, 2), (4, 2), (5, 5), (6, 5), (7, 5)]);
    // All eight are in one collision domain.
    assert!(
        network
            .indices()
            .all(|a| network.indices().all(|b| network.distance_m(a, b) <= 6.5))
    );
}

#[test]
fn a_chain_out_of_range_names_the_link() {
    let chain = Topology::Chain(Chain {
        nodes: 3,
        spacing_m: 7.0,
    });
    let network = Network::build(&chain, 1).unwrap();
    let problem = Routes::build(&network, RouteChoice::Auto, within(&network, 6.5)).unwrap_err();
    assert!(
        problem
            .what
            .contains("node 2 does not reach its parent 1, 7.00 m away"),
        "{problem}"
    );
    let problem = Routes::build(&network, RouteChoice::Shortest, within(&network, 6.5)).unwrap_err();
    assert!(problem.what.contains("node 2 cannot reach the sink"), "{problem}");
}

#[test]
fn parents_in_a_circle_are_refused() {
    let text = "node,x_m,y_m,parent\na,0,0,\nb,1,0,c\nc,2,0,b\n".to_owned();
    let file = Topology::Csv(Csv {
        file: "x.csv".to_owned(),
        text: Some(text),
    });
    let network = Network::build(&file, 1).unwrap();
    let problem = Routes::build(&network, RouteChoice::Auto, within(&network, 6.5)).unwrap_err();
    assert!(problem.what.contains("node b cannot reach the sink"), "{problem}");
}

#[test]
fn a_csv_with_mistakes_names_the_line() {
    let read = |text: &str| csv::read(text).map(|_| ()).unwrap_err().to_string();
    assert!(read("").contains("line 1"));
    assert!(read("node,x,y\n").contains("x_m"));
    assert!(read("node,x_m,y_m\na,0,0\nb,1\n").contains("line 3: too few fields"));
    assert!(read("node,x_m,y_m\na,0,zero\n").contains("line 2: \"zero\" is no number"));
    assert!(read("node,x_m,y_m,parent\na,0,0,\nb,1,0,q\n").contains("line 3: no node \"q\""));
}

#[test]
fn an_address_given_twice_is_refused() {
    let place = |eui64: Option<&str>, short_address| config::Place {
        eui64: eui64.map(str::to_owned),
        short_address,
        ..config::Place::default()
    };
    let build = |places| Network::build(&Topology::Nodes(places), 1).unwrap_err();
    let problem = build(vec![
        place(None, None),
        place(Some("02:00:00:00:00:00:00:01"), None),
    ]);
    assert_eq!(problem.key, "topology.nodes.1.eui64");
    let problem = build(vec![place(None, None), place(None, Some(1))]);
    assert_eq!(problem.key, "topology.nodes.1.short_address");
    let problem = build(vec![place(None, None), place(Some("02:00"), None)]);
    assert_eq!(problem.key, "topology.nodes.1.eui64");
    let problem = build(vec![place(None, None), place(None, Some(0xffff))]);
    assert_eq!(problem.key, "topology.nodes.1.short_address");
    assert_eq!(build(vec![place(None, None)]).key, "topology");
}
