import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';

export const ROOT = join(import.meta.dirname, '../..');

/** Reads a YAML file of the checkout, and resolves merge keys (`<<`). */
export function readYaml<Shape>(path: string): Shape {
  return parse(readFileSync(join(ROOT, path), 'utf8'), { merge: true }) as Shape;
}

/** Returns every document of a YAML file. Throws for a text that is not YAML. */
export function readYamlDocuments<Shape>(path: string): readonly Shape[] {
  return parseAllDocuments(readFileSync(join(ROOT, path), 'utf8')).map((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) throw problem;
    return document.toJS() as Shape;
  });
}
