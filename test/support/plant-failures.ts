import { registerHooks } from 'node:module';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded into a server (NODE_OPTIONS) to give it bugs. A list of reads or a command that names PLANTED starts a promise that is rejected and
 * that no code handles, and then waits; with PLANTED_LATE that happens after the answer. SIGUSR2 starts such a promise outside of every request, SIGURG
 * throws an exception.
 */
export const PLANTED = 'planted-failure';
export const PLANTED_LATE = 'planted-late-failure';

function bugIn(text: string, wait: string): string {
  return `
  if (JSON.stringify(${text}).includes('${PLANTED}')) {
    void Promise.reject(new Error('planted'));
    ${wait}
  }
  if (JSON.stringify(${text}).includes('${PLANTED_LATE}'))
    setTimeout(() => void Promise.reject(new Error('planted late')), 50);
`;
}

const PLACES: readonly { readonly file: string; readonly after: string; readonly bug: string }[] = [
  {
    file: '/services/query/answer-list.ts',
    after: 'async function listBody(answering: Answering, plan: ListPlan): Promise<Buffer> {',
    bug: bugIn('plan.search.query', 'await new Promise((next) => setTimeout(next, 20));'),
  },
  {
    file: '/services/command/prepare-write.ts',
    after: 'const draft = draftOf(state, locale);',
    bug: bugIn('data', ''),
  },
];

if (isMainThread) {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const place = PLACES.find(({ file }) => url.endsWith(file));
      if (place === undefined) return loaded;
      const source = String(loaded.source);
      if (!source.includes(place.after))
        throw new Error(`${place.file} has changed: plant the failure elsewhere`);
      return { ...loaded, source: source.replace(place.after, place.after + place.bug) };
    },
  });
  process.on('SIGUSR2', () => void Promise.reject(new Error('planted outside')));
  process.on('SIGURG', () => {
    throw new Error('planted exception');
  });
}
