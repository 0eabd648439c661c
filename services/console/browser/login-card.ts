import { useState } from 'preact/hooks';
import { ActionButton, type Outcome, OutcomeLine } from './action.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { useAnswer } from './use-answer.ts';

const PATH = '/_varve/login';

type Switches = Readonly<Record<string, boolean | string | null>>;

/** Settings of the login, with Strapi's names. */
export function LoginCard() {
  const { data: stored, problem, again } = useAnswer<Switches>(PATH);
  const [written, setWritten] = useState<Switches>({});
  const [outcome, setOutcome] = useState<Outcome>();
  const report = (found: Outcome) => {
    setOutcome(found);
    if (!('problem' in found)) setWritten({});
    again();
  };
  const set = (name: string, value: boolean | string | null) => setWritten({ ...written, [name]: value });
  return html`<section class="card" aria-label="Login">
    <h2>Login</h2>
    ${problem !== null && html`<p class="bad" role="alert">${problem}</p>`}
    <div class="fields">
      ${Object.entries(stored ?? {}).map(([name, value]) => html`<${Switch} key=${name} name=${name} value=${written[name] === undefined ? value : written[name]} set=${set} />`)}
    </div>
    <div class="row"><${ActionButton} isPrimary=${true} isDisabled=${Object.keys(written).length === 0} report=${report} action=${{
      label: 'Save login settings',
      request: { method: 'PUT', path: PATH, body: { data: written } },
    }} /></div>
    <${OutcomeLine} outcome=${outcome} />
    <${HowToSend} request=${{ method: 'GET', path: PATH }} />
  </section>`;
}

type SwitchProps = {
  readonly name: string;
  readonly value: boolean | string | null;
  readonly set: (name: string, value: boolean | string | null) => void;
};

/** A field; an empty address is null. */
function Switch({ name, value, set }: SwitchProps) {
  if (typeof value === 'boolean')
    return html`<label><input type="checkbox" checked=${value} onChange=${() => set(name, !value)} /> ${name}</label>`;
  const write = (event: Event) => {
    const { value: text } = event.target as HTMLInputElement;
    set(name, text === '' && name !== 'default_role' ? null : text);
  };
  return html`<label>${name} <input size="30" value=${value ?? ''} onInput=${write} /></label>`;
}
