import type { Fault } from './fault.ts';
import { DOCUMENTS } from './faults-of-documents.ts';
import { ANSWERS_OF_ELASTICSEARCH } from './faults-of-elasticsearch.ts';
import { FILES } from './faults-of-files.ts';
import { CHANGED_INDICES } from './faults-of-indices.ts';
import { ENDED_PROCESSES } from './faults-of-processes.ts';

const ROWS = [...ANSWERS_OF_ELASTICSEARCH, ...CHANGED_INDICES, ...DOCUMENTS, ...FILES, ...ENDED_PROCESSES];

/** Returns a row of the tables for one node. */
export function faultNamed(name: string): Fault {
  const found = ROWS.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no table has ${name}`);
  return found;
}
