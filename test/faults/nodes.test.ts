import { describeFaults } from './describe-faults.ts';
import { FAULTS_OF_NODES } from './faults-of-nodes.ts';

await describeFaults('three nodes', FAULTS_OF_NODES, { nodes: 3 });
