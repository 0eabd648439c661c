import { describeFaults } from './describe-faults.ts';
import { ANSWERS_OF_ELASTICSEARCH } from './faults-of-elasticsearch.ts';

await describeFaults('answers of Elasticsearch', ANSWERS_OF_ELASTICSEARCH);
