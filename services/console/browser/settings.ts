import { useState } from 'preact/hooks';
import { formatCount } from './format.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import type { SettingsInForce, ShownSetting } from './server.ts';
import { useAnswer } from './use-answer.ts';

const PATH = '/_varve/settings';

/** Settings: what is in force and its source, and what of the project is not served. */
export function SettingsPart() {
  const { data, problem } = useAnswer<SettingsInForce>(PATH);
  if (problem !== null) return html`<p class="card bad" role="alert">${problem}</p>`;
  if (data === undefined) return html`<p class="quiet" role="status">Loading…</p>`;
  return html`<h1 class="hidden">Settings</h1>
    <${InForceCard} found=${data} />
    <${ProjectCard} project=${data.project} />
    <${SchemasCard} schemas=${data.schemas} />
    <${CodeCard} code=${data.code} />`;
}

function InForceCard({ found: { role, version, settings } }: { readonly found: SettingsInForce }) {
  const [text, setText] = useState('');
  const [isAll, setAll] = useState(false);
  const wanted = text.trim().toLowerCase();
  const shown = settings.filter(
    ({ source, option, variable, description }) =>
      (isAll || wanted !== '' || source !== 'default') &&
      [option, variable, description].some((each) => each.toLowerCase().includes(wanted)),
  );
  const groups = [...new Set(shown.map(({ group }) => group))];
  return html`<section class="card" aria-label="Settings in force">
    <h2>Settings in force</h2>
    <p>Varve ${version} runs as <code>varve ${role}</code>. A setting is an option, a variable or a member of the settings file; the option wins.</p>
    <div class="row" role="search">
      <label>find <input name="find-setting" type="search" size="24" placeholder="--port, cache, limit" value=${text} onInput=${(event: Event) => setText((event.target as HTMLInputElement).value)} /></label>
      <label><input name="all-settings" type="checkbox" checked=${isAll} onChange=${(event: Event) => setAll((event.target as HTMLInputElement).checked)} /> also those that have their defaults</label>
      <span class="quiet" role="status">${formatCount(shown.length)} of ${formatCount(settings.length)}</span>
    </div>
    ${shown.length === 0 && html`<p class="empty">${wanted === '' ? 'All settings have their defaults.' : 'No setting has this text.'}</p>`}
    ${shown.length > 0 && html`<${SettingsTable} groups=${groups} shown=${shown} />`}
    <${HowToSend} request=${{ method: 'GET', path: PATH }} command=${isAll ? 'varve settings --all' : 'varve settings'} />
  </section>`;
}

type TableProps = { readonly groups: readonly string[]; readonly shown: readonly ShownSetting[] };

function SettingsTable({ groups, shown }: TableProps) {
  return html`<div class="scroll" role="region" aria-label="Table of settings" tabindex="0">
    <table class="settings">
      <thead><tr><th>option</th><th>value</th><th>source</th><th>what it is</th></tr></thead>
      ${groups.map(
        (group) =>
          html`<tbody key=${group}><tr><th colspan="4" scope="rowgroup">${group}</th></tr>${shown
            .filter((each) => each.group === group)
            .map((setting) => html`<${SettingRow} key=${setting.name} setting=${setting} />`)}</tbody>`,
      )}
    </table>
  </div>`;
}

function SettingRow({ setting }: { readonly setting: ShownSetting }) {
  const { option, variable, value, source, description, isSecret } = setting;
  const isHidden = isSecret && source !== 'default';
  return html`<tr>
    <td><code>${option}</code><br /><code class="quiet">${variable}</code></td>
    <td class="wrap">${isHidden ? html`<span class="quiet">set; a secret is never shown</span>` : (value ?? html`<span class="quiet">none</span>`)}</td>
    <td>${source === 'default' ? html`<span class="quiet">default</span>` : source}</td>
    <td class="wrap quiet">${description}</td>
  </tr>`;
}

function ProjectCard({ project }: { readonly project: SettingsInForce['project'] }) {
  return html`<section class="card" aria-label="Project">
    <h2>The project's configuration</h2>
    ${project === null && html`<p class="empty">The content types are not in a Strapi project, so there is no configuration to read.</p>`}
    ${
      project !== null &&
      html`<dl class="headers">
        <div><dt>file</dt><dd>${project.file}</dd></div>
        <div><dt>prefix</dt><dd>${project.prefix === '' ? 'none' : project.prefix}</dd></div>
        <div><dt>lists have their total</dt><dd>${project.withCount ? 'yes' : 'only if a request asks for it'}</dd></div>
        <div><dt>private attributes</dt><dd>${project.privateAttributes.join(', ') || 'none'}</dd></div>
      </dl>
      ${project.failure !== null && html`<p class="bad">Not read: ${project.failure}</p>`}`
    }
  </section>`;
}

function SchemasCard({ schemas }: { readonly schemas: SettingsInForce['schemas'] }) {
  return html`<section class="card" aria-label="Schemas">
    <h2>Not served as the schemas say</h2>
    ${schemas.length === 0 && html`<p class="empty">Everything in the schema files is served.</p>`}
    ${
      schemas.length > 0 &&
      html`<div class="scroll" role="region" aria-label="Table of what is not served" tabindex="0"><table class="left-out">
        <thead><tr><th>file</th><th>where</th><th>why</th><th>what Varve does</th></tr></thead>
        <tbody>${schemas.map(
          ({ file, path, message, action }, i) =>
            html`<tr key=${i}><td class="wrap">${file}</td><td><code>${path}</code></td><td class="wrap">${message}</td><td class="wrap">${action}</td></tr>`,
        )}</tbody>
      </table></div>`
    }
  </section>`;
}

function CodeCard({ code }: { readonly code: readonly string[] }) {
  return html`<section class="card" aria-label="Code">
    <h2>Code of the project that does not run</h2>
    ${code.length === 0 && html`<p class="empty">The project has no code that Strapi would run and Varve does not.</p>`}
    ${code.length > 0 && html`<ul class="links">${code.map((line, i) => html`<li key=${i}>${line}</li>`)}</ul>`}
  </section>`;
}
