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
  'a document has a value that its field does not take',
  'the leader is killed',
  'the leader is paused',
  'the worker of the leader is paused',
].map(faultNamed);

/** Rows that `.ci/run` has on one node only, because they take longer than others. */
const ONE_NODE_ONLY = new Set([
  'all indices are deleted',
  'an older copy of an index is restored',
  'an older copy of all indices is restored, with the progress',
]);
const CHANGED = CHANGED_INDICES.filter(({ name }) => !ONE_NODE_ONLY.has(name));

await describeFaults('three nodes', [...CHANGED, ...ALSO_ON_ONE_NODE, ...FAULTS_OF_NODES], { nodes: 3 });
