//! Ranks the nodes of a cluster as large as S1's: 12,500 nodes and ten million tasks in jobs of 117,
//! including all fits.
//!
//! `cargo bench --features internals --bench nodes` prints CPU seconds and peak memory; `-- --quick` uses a tenth of the tasks and
//! nodes. Nothing is asserted, because machines differ.

fn main() {
    elephant_rs::internals::benchmarks::nodes::main();
}
