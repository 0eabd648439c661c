import uPlot from 'uplot';
import type { Line } from './plot-line.ts';
import type { Figures } from './server.ts';

export type Plot = { show(samples: readonly Figures[]): void; close(): void };

const HEIGHT = 130;

/** Draws lines over time in an element, as wide as the element. The browser's change of colours and widths draws them again. */
export function openPlot(place: HTMLElement, lines: readonly Line[]): Plot {
  let shown: readonly Figures[] = [];
  let drawn: uPlot | undefined;
  const draw = () => {
    drawn?.destroy();
    drawn = shown.length < 2 ? undefined : new uPlot(optionsOf(place, lines), dataOf(shown, lines), place);
  };
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  scheme.addEventListener('change', draw);
  const sizes = new ResizeObserver(() => drawn?.setSize({ width: place.clientWidth, height: HEIGHT }));
  sizes.observe(place);
  return {
    show(samples) {
      shown = samples;
      if (drawn === undefined) draw();
      else drawn.setData(dataOf(samples, lines));
    },
    close() {
      scheme.removeEventListener('change', draw);
      sizes.disconnect();
      drawn?.destroy();
    },
  };
}

function dataOf(samples: readonly Figures[], lines: readonly Line[]): uPlot.AlignedData {
  return [samples.map(({ at }) => at / 1_000), ...lines.map(({ value }) => samples.map(value))];
}

function optionsOf(place: HTMLElement, lines: readonly Line[]): uPlot.Options {
  const style = getComputedStyle(place);
  // The browser resolves `light-dark()` only in properties of elements.
  const color = (name: string): string => {
    const probe = place.appendChild(document.createElement('i'));
    probe.className = name;
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  };
  const quiet = color('axis');
  const axis = {
    stroke: quiet,
    grid: { stroke: color('grid'), width: 1 },
    ticks: { show: false },
    font: `11px ${style.fontFamily}`,
  };
  return {
    width: place.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      y: {
        range: (_plot, min, max) => [
          min > 0 && max - min < max / 2 ? min : Math.min(0, min),
          max === min ? max + 1 : max,
        ],
      },
    },
    axes: [
      { ...axis, space: 60, values: (_plot, times) => times.map(hourOf), size: 24 },
      { ...axis, size: 56, space: 36, values: (_plot, values) => values.map(numberOf) },
    ],
    series: [
      {},
      ...lines.map(({ name, color: which }) => ({
        label: name,
        stroke: color(`line-${which}`),
        width: 1.5,
        points: { show: false },
      })),
    ],
  };
}

function hourOf(seconds: number): string {
  return new Date(seconds * 1_000).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
}

function numberOf(value: number): string {
  return Intl.NumberFormat(undefined, {
    notation: value >= 10_000 ? 'compact' : 'standard',
    maximumSignificantDigits: 4,
  }).format(value);
}
