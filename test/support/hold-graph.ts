import { openContentGraph } from '../../projections/graph/content-graph.ts';

/** Opens the content graph of a file, says so, and keeps it open until it is killed. */
const [, , file = ''] = process.argv;
const graph = openContentGraph(file);
console.log(`open at ${graph.position()}`);
setInterval(() => {}, 60_000);
