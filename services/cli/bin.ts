#!/usr/bin/env node
import { nodeProblem } from './node-problem.ts';

// The rest is imported only now, because an older Node cannot run it.
const problem = nodeProblem(process.versions.node);
if (problem === undefined) await import('./varve.ts');
else {
  console.error(problem);
  process.exitCode = 1;
}
