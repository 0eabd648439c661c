/** Types of what test/bench uses of the vendored common.mjs. */
export declare class Distinct {
  constructor(template: string, seed: number);
  get(index: number): string;
  repeats(count: number): number;
  readonly t: { readonly space: number };
}
export declare function queries(
  file?: string,
  only?: string,
): readonly { readonly name: string; readonly path: string; readonly template: string }[];
export declare function sorted(values: readonly number[]): Float64Array;
export declare function pct(values: Float64Array, share: number): number;
export declare function median(values: readonly number[]): number;
export declare function geomean(values: readonly number[]): number;
export declare function num(value: number, digits?: number): string;
export declare function table(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string;
export declare function machine(): {
  readonly node: string;
  readonly cpu: string | undefined;
  readonly cores: number;
  readonly memGiB: number;
  readonly load1: number;
  readonly date: string;
};
