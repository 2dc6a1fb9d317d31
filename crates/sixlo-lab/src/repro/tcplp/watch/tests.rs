use super::*;

#[test]
fn a_copy_counts_from_the_segment_to_the_end_at_the_link() {
    let trace = "time_ns,node,datagram,layer,event,peer,detail\n\
                 1,2,7,tcp,segment-out,,from_port=1 to_port=2 flags=ACK seq=1 ack=1 len=400 window=9\n\
                 1,2,0,node,occupancy,,buffer=500 reassemblies=0\n\
                 2,2,8,tcp,segment-out,,from_port=1 to_port=2 flags=ACK seq=1 ack=1 len=300 window=9\n\
                 3,1,9,node,occupancy,,buffer=9000 reassemblies=0\n\
                 4,2,7,netif,end,,end=sent\n\
                 5,2,0,node,occupancy,,buffer=600 reassemblies=0\n";
    assert_eq!(send_memory(trace.as_bytes(), 2).unwrap(), [600, 1_200]);
}
