#!/usr/bin/env node
import { nodeProblem } from './node-problem.ts';

// Imported only then: an older Node cannot run the rest.
const problem = nodeProblem(process.versions.node);
if (problem === undefined) await import('./varve.ts');
else {
  console.error(problem);
  process.exitCode = 1;
}
