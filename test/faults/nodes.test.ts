import { describeFaults } from './describe-faults.ts';
import { faultNamed } from './fault-named.ts';
import { CHANGED_INDICES } from './faults-of-indices.ts';
import { FAULTS_OF_NODES } from './faults-of-nodes.ts';

/** Rows of the other tables that several nodes may change: where copies, masters or the addresses of a client are concerned. */
const ALSO_ON_ONE_NODE = [
  'connections are refused',
  'connections of the leader are refused',
  'every third request is cut',
  'answers of _bulk are lost',
  '_bulk of one type is not answered',
  'no request is answered',
  'a document is larger than the heap takes',
  'a document has a value that its field does not take',
  'another program deletes a document',
  'another program overwrites a document',
  'the leader is killed',
  'the leader is paused',
  'both processes that can lead are killed',
  'the worker of the leader is paused',
].map(faultNamed);

await describeFaults('three nodes', [...CHANGED_INDICES, ...ALSO_ON_ONE_NODE, ...FAULTS_OF_NODES], {
  nodes: 3,
});
