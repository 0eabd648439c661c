import { openContentGraph } from '../../projections/graph/content-graph.ts';

/** A program that opens the content graph of a file, reports it, and keeps it open until killed. */
const [, , file = ''] = process.argv;
const graph = openContentGraph(file);
console.log(`open at ${graph.position()}`);
setInterval(() => {}, 60_000);
