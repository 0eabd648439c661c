import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf, type Reply, type Request, send } from './api.ts';
import { formatBytes, formatShort } from './format.ts';
import { type ExplainedSearch, FoundWords } from './found-words.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { change, route } from './route.ts';
import { SearchesCard } from './searches.ts';
import { rights, types } from './session.ts';
import { SlowReadsCard } from './slow-reads.ts';

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'];
/** Headers that say something about the answer of the API. */
const SHOWN_HEADERS =
  /^(content-type|etag|cache-control|(netlify-|edge-)?cache-tag|surrogate-key|xkey|cache-groups|varve-|vary|age|retry-after|x-request-id|allow)/;
/** Characters of an answer that are shown at once. */
const MOST_SHOWN = 200_000;

type Outcome = { readonly request: Request; readonly answer: Reply } | { readonly problem: string };

/** A request by hand: written or pasted, with its answer, its time and size, its headers, its plan, and how to send it. */
export function QueryPart() {
  const { query } = route.value;
  const method = METHODS.find((each) => each === query.get('method')) ?? 'GET';
  const path = query.get('request') ?? firstPath();
  const [outcome, setOutcome] = useState<Outcome>();
  const [isAsking, setAsking] = useState(false);
  const run = async (asked: Request, plan: boolean) => {
    setAsking(true);
    setOutcome(await outcomeOf(asked, plan));
    setAsking(false);
  };
  // A link to a read shows its answer. Nothing else is sent without a click.
  useEffect(() => {
    if (method === 'GET' && query.has('request')) void run({ method, path }, query.get('plan') === 'true');
  }, [method, path, query.get('plan')]);
  return html`<h1 class="hidden">Query</h1>
    <${Form} method=${method} path=${path} isAsking=${isAsking} run=${run} />
    ${outcome !== undefined && html`<${Shown} outcome=${outcome} />`}
    ${outcome === undefined && html`<p class="empty">Send a request to see its answer, its headers and its plan. The address of this page keeps the request, but no body.</p>`}
    ${rights.value === 'full' && html`<${SlowReadsCard} /><${SearchesCard} />`}`;
}

/** Returns a request that every site answers. */
function firstPath(): string {
  const first = types.value.find(
    ({ plugin, schema }) => plugin === undefined && schema.kind === 'collectionType',
  );
  return first === undefined ? '/api/' : `/api/${first.schema.pluralName}?pagination[pageSize]=3&populate=*`;
}

type FormProps = {
  readonly method: string;
  readonly path: string;
  readonly isAsking: boolean;
  readonly run: (request: Request, plan: boolean) => Promise<void>;
};

function Form({ method, path, isAsking, run }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [chosen, setChosen] = useState(method);
  const [problem, setProblem] = useState('');
  useEffect(() => setChosen(method), [method]);
  const submit = (event: Event) => {
    event.preventDefault();
    if (form.current === null) return;
    const data = new FormData(form.current);
    const asked = parseRequest(chosen, String(data.get('request')), String(data.get('body') ?? ''));
    setProblem('problem' in asked ? asked.problem : '');
    if ('problem' in asked) return;
    const plan = data.get('plan') === 'on';
    const before = location.hash;
    change({
      method: chosen === 'GET' ? undefined : chosen,
      request: asked.path,
      plan: plan ? 'true' : undefined,
    });
    // Another address sends a read by itself.
    if (chosen !== 'GET' || location.hash === before) void run(asked, plan);
  };
  return html`<form class="card request" ref=${form} onSubmit=${submit}>
    <div class="row">
      <select name="method" aria-label="Method" value=${chosen} onChange=${(event: Event) => setChosen((event.target as HTMLSelectElement).value)}>
        ${METHODS.map((each) => html`<option selected=${each === chosen}>${each}</option>`)}
      </select>
      <button class="primary" type="submit" disabled=${isAsking}>${isAsking ? 'Sending…' : 'Send'}</button>
      ${rights.value === 'full' && chosen === 'GET' && html`<label><input type="checkbox" name="plan" defaultChecked=${route.value.query.get('plan') === 'true'} /> with its plan</label>`}
    </div>
    <label for="request">Path and query string, or a pasted URL or curl command</label>
    <textarea id="request" name="request" rows="3" spellcheck=${false} key=${path} defaultValue=${path}
      onKeyDown=${(event: KeyboardEvent) => event.key === 'Enter' && (event.ctrlKey || event.metaKey) && submit(event)}></textarea>
    ${
      chosen !== 'GET' &&
      chosen !== 'DELETE' &&
      html`<label for="body">Body, as JSON</label>
      <textarea id="body" name="body" rows="6" spellcheck=${false} defaultValue=${'{ "data": {} }'}></textarea>`
    }
    ${problem !== '' && html`<p class="bad" role="alert">${problem}</p>`}
  </form>`;
}

/** Reads what somebody wrote: a path, the URL of this or another server, or a curl command with one. */
function parseRequest(method: string, written: string, body: string): Request | { readonly problem: string } {
  const [, inQuotes, bare] = /^\s*curl\b.*?(?:['"](https?:[^'"]+)['"]|\s(https?:\S+))/.exec(written) ?? [];
  const text = (inQuotes ?? bare ?? written).trim().replace(/^https?:\/\/[^/]+/, '');
  if (!text.startsWith('/'))
    return { problem: 'The request must be a path that begins with /, such as /api/articles' };
  const path = text.replaceAll(/[\s#]/g, encodeURIComponent);
  if (method === 'GET' || method === 'DELETE' || body.trim() === '') return { method, path };
  try {
    return { method, path, body: JSON.parse(body) };
  } catch (error) {
    return { problem: `The body is not JSON: ${(error as Error).message}` };
  }
}

async function outcomeOf(request: Request, plan: boolean): Promise<Outcome> {
  const path = plan ? `${request.path}${request.path.includes('?') ? '&' : '?'}explain=true` : request.path;
  try {
    return { request, answer: await send({ ...request, path }) };
  } catch (error) {
    return { problem: `The server does not answer: ${(error as Error).message}` };
  }
}

function Shown({ outcome }: { readonly outcome: Outcome }) {
  if ('problem' in outcome) return html`<p class="card bad" role="alert">${outcome.problem}</p>`;
  const { request, answer } = outcome;
  const { status, ok, ms, bytes, headers, json, text } = answer;
  const { meta } = (json ?? {}) as {
    readonly meta?: { readonly explain?: { readonly search?: ExplainedSearch } };
  };
  const body = json === undefined ? text : JSON.stringify(json, null, 2);
  return html`<section class="card answer" aria-label="Answer">
    <p role="status"><strong class=${ok ? 'good' : 'bad'}>${status}</strong>${' '}
      ${formatShort(ms)} ms, ${formatBytes(bytes)}${ok ? '' : html`${' '}<span class="bad">${messageOf(answer)}</span>`}</p>
    <dl class="headers">
      ${headers.filter(([name]) => SHOWN_HEADERS.test(name)).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
    </dl>
    <${HowToSend} request=${request} />
    ${meta?.explain?.search !== undefined && html`<${FoundWords} search=${meta.explain.search} />`}
    ${meta?.explain !== undefined && html`<details open><summary>Plan</summary><pre tabindex="0">${JSON.stringify(meta.explain, null, 2)}</pre></details>`}
    <h2>Answer</h2>
    <pre tabindex="0" class="body">${body.slice(0, MOST_SHOWN)}</pre>
    ${body.length > MOST_SHOWN && html`<p class="quiet">The answer is longer: only its beginning is shown.</p>`}
  </section>`;
}
