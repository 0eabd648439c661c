import { useEffect, useRef } from 'preact/hooks';
import { formatCount, formatShort, UNKNOWN } from './format.ts';
import { html } from './html.ts';
import type { Plot } from './plot.ts';
import type { Line } from './plot-line.ts';
import { linkTo } from './route.ts';
import type { Figures } from './server.ts';

type Panel = {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly format: (value: number | null) => string;
  /** Part of the page that says more. */
  readonly more?: readonly [part: string, title: string];
};

const PANELS: readonly Panel[] = [
  {
    title: 'Requests a second',
    format: formatShort,
    lines: [
      { name: 'reads', color: 'a', value: ({ reads }) => reads },
      { name: 'writes', color: 'b', value: ({ writes }) => writes },
      { name: '5xx', color: 'c', value: ({ failed }) => failed },
    ],
  },
  {
    title: 'Duration of reads, ms',
    format: formatShort,
    more: ['query', 'Slow reads'],
    lines: [
      { name: 'p50', color: 'a', value: ({ readP50 }) => readP50 },
      { name: 'p99', color: 'b', value: ({ readP99 }) => readP99 },
    ],
  },
  {
    title: 'Duration of writes, ms',
    format: formatShort,
    lines: [
      { name: 'p50', color: 'a', value: ({ writeP50 }) => writeP50 },
      { name: 'p99', color: 'b', value: ({ writeP99 }) => writeP99 },
    ],
  },
  {
    title: 'Position: the gap is the lag',
    format: formatCount,
    lines: [
      { name: 'log', color: 'b', value: ({ logPosition }) => logPosition },
      { name: 'reads show', color: 'a', value: ({ position }) => position },
    ],
  },
];

/** The last hour, a sample every ten seconds. */
export function Plots({ samples }: { readonly samples: readonly Figures[] }) {
  return html`<div class="plots">
    ${PANELS.map((panel) => html`<${PlotCard} key=${panel.title} panel=${panel} samples=${samples} />`)}
  </div>`;
}

function PlotCard({ panel, samples }: { readonly panel: Panel; readonly samples: readonly Figures[] }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot>(undefined);
  const newest = useRef(samples);
  newest.current = samples;
  const { title, lines, format, more } = panel;
  useEffect(() => {
    let isWanted = true;
    const opened = import('./plot.ts').then(({ openPlot }) => {
      if (isWanted && place.current !== null) plot.current = openPlot(place.current, lines);
      plot.current?.show(newest.current);
    });
    // Without the module the legend still shows the values.
    opened.catch(() => {});
    return () => {
      isWanted = false;
      plot.current?.close();
    };
  }, []);
  useEffect(() => plot.current?.show(samples), [samples]);
  const last = samples.at(-1);
  const values = lines.map((line) => ({
    ...line,
    text: last === undefined ? UNKNOWN : format(line.value(last)),
  }));
  return html`<section class="card plot">
    <h2>${title}</h2>
    <div class="canvas" ref=${place} role="img" aria-label=${`${title}, last hour. Now: ${values.map(({ name, text }) => `${name} ${text}`).join(', ')}`}>
      ${samples.length < 2 && html`<p class="quiet">The first figures come after twenty seconds.</p>`}
    </div>
    <ul class="legend">${values.map(({ name, color, text }) => html`<li class=${`line-${color}`}>${name} <b>${text}</b></li>`)}${more !== undefined && html`<li class="more"><a href=${linkTo([more[0]])}>${more[1]}</a></li>`}</ul>
  </section>`;
}
