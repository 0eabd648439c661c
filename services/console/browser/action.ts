import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { messageOf, type Reply, type Request, send } from './api.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';

/** Something that a button does: one request. */
export type ButtonAction = {
  readonly label: string;
  readonly request: Request;
  /** The command of `varve` that does the same. */
  readonly command?: string | undefined;
  /** Present if it destroys: what is lost, and the name to type before it is sent. */
  readonly destroys?: { readonly what: string; readonly name: string };
};

/** Result of an action. */
export type Outcome = { readonly action: ButtonAction; readonly answer: Reply } | Failed;

type Failed = { readonly action: ButtonAction; readonly problem: string };

type ButtonProps = {
  readonly action: ButtonAction;
  /** Name for screen readers, where the label alone is not enough. */
  readonly name?: string;
  readonly isPrimary?: boolean;
  readonly isDisabled?: boolean;
  /** Sends the request, instead of `send`. */
  readonly run?: (action: ButtonAction) => Promise<Outcome>;
  readonly report: (outcome: Outcome) => void;
};

/** A button that sends a request. What destroys asks for a name first. */
export function ActionButton({ action, name, isPrimary, isDisabled, run = carryOut, report }: ButtonProps) {
  const [isAsking, setAsking] = useState(false);
  const [isSending, setSending] = useState(false);
  const { label, destroys } = action;
  const begin = async () => {
    setAsking(false);
    setSending(true);
    // Never rejects: a failure is an outcome.
    report(await run(action));
    setSending(false);
  };
  // A button that is disabled while it sends would lose the focus.
  const click = () => {
    if (isSending) return;
    if (destroys === undefined) void begin();
    else setAsking(true);
  };
  const kind = destroys === undefined ? (isPrimary ? 'primary' : '') : 'danger';
  return html`<button type="button" class=${kind} aria-label=${name} disabled=${isDisabled} aria-disabled=${isSending}
      onClick=${click}>${isSending ? `${label}…` : label}</button>
    ${isAsking && html`<${Confirmation} action=${action} confirmed=${() => void begin()} closed=${() => setAsking(false)} />`}`;
}

/** Sends the request of an action. Never rejects. */
async function carryOut(action: ButtonAction): Promise<Outcome> {
  try {
    const answer = await send(action.request);
    return answer.ok ? { action, answer } : { action, problem: messageOf(answer) };
  } catch (error) {
    return { action, problem: `The server does not answer: ${(error as Error).message}` };
  }
}

/** Returns whether somebody has typed a name. A field has no line breaks, and nobody sees spaces around a text. */
export function isTyped(name: string, typed: string): boolean {
  return inOneLine(name) === inOneLine(typed);
}

function inOneLine(text: string): string {
  return text.replaceAll(/[\r\n]/g, '').trim();
}

type ConfirmationProps = {
  readonly action: ButtonAction;
  readonly confirmed: () => void;
  readonly closed: () => void;
};

function Confirmation({ action, confirmed, closed }: ConfirmationProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState('');
  const id = useId();
  const { label, request, command, destroys } = action;
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => before instanceof HTMLElement && before.focus();
  }, []);
  const isRight = destroys !== undefined && isTyped(destroys.name, typed);
  const submit = (event: Event) => {
    event.preventDefault();
    if (isRight) confirmed();
  };
  return html`<dialog ref=${dialog} class="card" aria-labelledby=${`${id}-title`} onClose=${closed}>
    <form class="confirm" onSubmit=${submit}>
      <h2 id=${`${id}-title`}>${label}</h2>
      <p>${destroys?.what}</p>
      <label for=${id}>Type <code>${destroys?.name}</code> to confirm</label>
      <input id=${id} autocomplete="off" spellcheck=${false} value=${typed}
        onInput=${(event: Event) => setTyped((event.target as HTMLInputElement).value)} />
      <div class="row">
        <button type="submit" class="danger" disabled=${!isRight}>${label}</button>
        <button type="button" onClick=${closed}>Keep it</button>
      </div>
      <${HowToSend} request=${request} command=${command} />
    </form>
  </dialog>`;
}

/** Shows what became of the last action, and how to send it without the page. `done`: what to say after a success. */
export function OutcomeLine({
  outcome,
  done = 'Done.',
}: {
  readonly outcome: Outcome | undefined;
  readonly done?: string;
}) {
  if (outcome === undefined) return html`<p role="status" class="hidden"></p>`;
  const { action } = outcome;
  return html`<div class="outcome">
    <p role="status" class=${'problem' in outcome ? 'bad' : 'good'}>${action.label}: ${'problem' in outcome ? outcome.problem : done}</p>
    <${HowToSend} request=${action.request} command=${action.command} />
  </div>`;
}
