/** Severity of a condition. `outage`: requests are refused. `degraded`: everything is answered, and something is late or missing. */
export type Severity = 'outage' | 'degraded';

type ConditionMeaning = {
  readonly severity: Severity;
  /** Effect on readers. */
  readonly readers: string;
  /** Effect on writers. */
  readonly writers: string;
  readonly advice: string;
};

const ANSWERED = 'Reads are answered.';
const CARRIED_OUT = 'Writes are carried out.';

/**
 * Meaning of each condition of a process, for `varve status`, `/_varve/state`, `/health/ready`, the log and the runbook. The most serious
 * ones come first.
 */
export const CONDITIONS = {
  starting: {
    severity: 'outage',
    readers: 'This process answers 503.',
    writers: 'This process answers 503.',
    advice: 'Wait. If it takes longer than usual, the log of the process says what it is doing.',
  },
  'types-differ': {
    severity: 'outage',
    readers: 'This process answers 503; the others answer.',
    writers: 'This process answers 503; the others accept writes.',
    advice:
      'Start this process with the folder of the leader, or stop the other processes to change the content types.',
  },
  'types-change-stopped': {
    severity: 'degraded',
    readers: 'Reads are answered with the earlier content types.',
    writers: 'Writes are accepted with the earlier content types.',
    advice:
      'Remove the cause: the change is tried again at least once a minute. After a pause or --cancel, start the server again. Or start with the earlier folder.',
  },
  'read-index-unreachable': {
    severity: 'outage',
    readers: 'Reads answer 503.',
    writers: 'Writes are stored and answered with 202; the index shows them later.',
    advice:
      'Start Elasticsearch, or check --read-index, the network, the credentials and the rights (infra/elasticsearch/role.json). Varve continues by itself.',
  },
  'index-unusable': {
    severity: 'outage',
    readers: 'Reads of these content types answer 503.',
    writers: 'Writes of these content types are stored and answered with 202.',
    advice:
      'Open a closed index, lift a block, bring lost nodes back. The leader makes missing and changed indices again by itself.',
  },
  'log-unreachable': {
    severity: 'outage',
    readers: ANSWERED,
    writers: 'Writes answer 503.',
    advice: 'Start the server of the event log, or check --event-store, the disk and the network.',
  },
  halted: {
    severity: 'outage',
    readers: 'Reads show the content before the event.',
    writers: 'This process answers 503.',
    advice: 'Start the newer version of Varve that wrote the event. Restore a backup if the log is damaged.',
  },
  'disk-full': {
    severity: 'outage',
    readers: ANSWERED,
    writers: 'Writes answer 503.',
    advice: 'Free some space. Writes work again within half a minute.',
  },
  'keys-differ': {
    severity: 'outage',
    readers: ANSWERED,
    writers: 'Writes answer 503 at times, because the processes replace each other as the leader.',
    advice:
      'Give every process of the log the same --access-key (VARVE_ACCESS_KEY), and the right time. Stop the others.',
  },
  'no-leader': {
    severity: 'outage',
    readers: ANSWERED,
    writers: 'Writes answer 503.',
    advice:
      'Start a varve serve or varve project that reaches the log. The log of a running one says why it cannot lead.',
  },
  'process-silent': {
    severity: 'degraded',
    readers: 'Other processes answer reads.',
    writers: CARRIED_OUT,
    advice: 'Start the process again if you did not stop it. It leaves the list after ten minutes.',
  },
  'graph-unusable': {
    severity: 'degraded',
    readers: 'The next start makes the graph from the log before it answers.',
    writers: CARRIED_OUT,
    advice: 'Start the server.',
  },
  lagging: {
    severity: 'degraded',
    readers: 'Reads of this process are old.',
    writers: CARRIED_OUT,
    advice: 'Wait if the lag falls. If not, look for a slow disk or too little processor time.',
  },
  'copying-strapi': {
    severity: 'degraded',
    readers: 'The content is incomplete until the first copy ends.',
    writers: CARRIED_OUT,
    advice: 'Wait for the end of the first copy.',
  },
  'documents-parked': {
    severity: 'degraded',
    readers: 'Reads show these documents in their last accepted state.',
    writers: CARRIED_OUT,
    advice: 'Run varve parked list: it names each document and the reason.',
  },
  'index-behind': {
    severity: 'degraded',
    readers: 'Copies of edited rows in other documents are late.',
    writers: CARRIED_OUT,
    advice: 'Wait if the backlog falls. If not, give Elasticsearch more resources.',
  },
  'index-not-green': {
    severity: 'degraded',
    readers: ANSWERED,
    writers: CARRIED_OUT,
    advice: 'Bring the missing nodes of Elasticsearch back, or lower --read-index-replicas.',
  },
  'rebuild-failed': {
    severity: 'degraded',
    readers: 'Reads are answered from the live generation.',
    writers: CARRIED_OUT,
    advice: 'Run the same varve rebuild again, or varve rebuild --cancel.',
  },
  'rebuild-stalled': {
    severity: 'degraded',
    readers: 'Reads are answered from the live generation.',
    writers: CARRIED_OUT,
    advice: 'Run the same varve rebuild again: it continues. varve rebuild --cancel removes it.',
  },
  'deliveries-parked': {
    severity: 'degraded',
    readers: ANSWERED,
    writers: CARRIED_OUT,
    advice: 'Run varve webhook deliveries --state parked, repair the receiver, then varve webhook replay.',
  },
  'releases-failed': {
    severity: 'degraded',
    readers: 'Entries of a scheduled release are not published.',
    writers: CARRIED_OUT,
    advice:
      'Read problems of the release at /_varve/releases, repair the entries, and give the release another time.',
  },
  'purges-waiting': {
    severity: 'degraded',
    readers: 'Caches may answer with old content.',
    writers: CARRIED_OUT,
    advice: 'Check the address and the credentials of --purge. The log names the answer of the cache.',
  },
  'strapi-unreachable': {
    severity: 'degraded',
    readers: 'Reads show the content that Strapi had before.',
    writers: 'Writes to Strapi answer 503.',
    advice: 'Start Strapi, or check --follow and its token.',
  },
} as const satisfies Readonly<Record<string, ConditionMeaning>>;

export type ConditionCode = keyof typeof CONDITIONS;
