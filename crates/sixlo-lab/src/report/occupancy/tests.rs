use super::*;

const TRACE_TEXT: &str = "\
time_ns,node,datagram,layer,event,peer,detail
0,1,0,node,occupancy,,buffer=100 reassemblies=1 forwards=0 transfers=0
40,2,0,node,occupancy,,buffer=50 reassemblies=0 forwards=2 transfers=3
60,1,0,node,occupancy,,buffer=0 reassemblies=0 forwards=0 transfers=0
80,2,7,app,hop,,to=udp
";

#[test]
fn what_nodes_hold_is_a_mean_over_each_part_of_the_time() {
    let means = means(TRACE_TEXT.as_bytes()).unwrap().unwrap();
    // A bin is 1 ns long: node 1 holds 100 bytes up to 60 ns, node 2 holds 50 from 40 ns to the end.
    for (bin, bytes) in means.of[0].iter().enumerate() {
        let first = if bin < 60 { 100.0 } else { 0.0 };
        let second = if bin >= 40 { 50.0 } else { 0.0 };
        assert!((bytes - first - second).abs() < 1e-6, "{bin}: {bytes}");
    }
    assert_eq!((means.of[1][59], means.of[1][60]), (1.0, 0.0));
    assert_eq!((means.of[2][39], means.of[2][40]), (0.0, 2.0));
    assert_eq!(means.of[3][79], 3.0);
    assert_eq!(drawn(&means, 2).len(), 2);
}

#[test]
fn without_such_lines_there_is_no_figure() {
    let text = "time_ns,node,datagram,layer,event,peer,detail\n80,2,7,app,hop,,to=udp\n";
    assert!(means(text.as_bytes()).unwrap().is_none());
}
