import path from 'node:path';
import { type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast';
import {
  isArrayLiteralExpression,
  isArrowFunction,
  isAwaitExpression,
  isBinaryExpression,
  isBindingElement,
  isCallExpression,
  isExpressionStatement,
  isForOfStatement,
  isFunctionDeclaration,
  isFunctionExpression,
  isIdentifier,
  isMethodDeclaration,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isVariableDeclaration,
  isVoidExpression,
} from 'typescript/unstable/ast/is';
import { API, type Checker, SignatureKind, type Type } from 'typescript/unstable/sync';
import { PRODUCT } from './rooms.ts';

/** A promise whose rejection may reach nobody: then it ends the process, unless it belongs to a request. */
export type LoosePromise = {
  readonly place: string;
  /**
   * `floating`: nobody awaits it. `late`: it is started, then something else is awaited, and only then the promise. `kept`: it is assigned
   * or added to something that outlives the statement. `misused`: it is returned to a caller that expects nothing.
   */
  readonly kind: 'floating' | 'late' | 'kept' | 'misused';
  readonly text: string;
};

/**
 * A comment above a statement that says why its promise may be loose. `Never rejects`: it handles its own failures. `Ends the process`: that
 * is what a failure has to do. `The caller handles`: the caller attaches a handler at once.
 */
const REASON = /\b(never rejects|ends the process|the caller handles)\b/i;

/** Finds the loose promises in the product files of a checkout. */
export function loosePromises(checkout: string): readonly LoosePromise[] {
  const isProduct = (file: string) =>
    PRODUCT.some((root) => file.startsWith(`${path.join(checkout, root)}/`)) &&
    !file.includes('node_modules');
  return loosePromisesOf(path.join(checkout, 'tsconfig.json'), isProduct);
}

/** Finds them in the files of a TypeScript project that `isWanted` selects. */
export function loosePromisesOf(
  tsconfig: string,
  isWanted: (file: string) => boolean,
): readonly LoosePromise[] {
  const folder = path.dirname(tsconfig);
  const api = new API({ cwd: folder });
  try {
    const [project] = api.updateSnapshot({ openProjects: [tsconfig] }).getProjects();
    if (project === undefined) throw new Error(`${tsconfig} cannot be read`);
    const { program, checker } = project;
    return program
      .getSourceFileNames()
      .filter(isWanted)
      .flatMap((name) => {
        const file = program.getSourceFile(name);
        return file === undefined ? [] : inFile(checker, file, path.relative(folder, name));
      });
  } finally {
    api.close();
  }
}

function inFile(checker: Checker, file: SourceFile, name: string): readonly LoosePromise[] {
  const promises = createPromiseTypes(checker);
  const nodes: Node[] = [];
  const visit = (node: Node): void => {
    nodes.push(node);
    node.forEachChild(visit);
  };
  visit(file);
  const found: LoosePromise[] = [];
  const add = (kind: LoosePromise['kind'], node: Node) => {
    if (hasReason(file, node)) return;
    const line = file.text.slice(0, node.getStart(file)).split('\n').length;
    const text = node.getText(file).replace(/\s+/g, ' ').slice(0, 100);
    found.push({ place: `${name}:${line}`, kind, text });
  };
  const unhandled = promises.among(nodes.filter(mayStart)).filter((node) => !isHandled(node));
  for (const node of unhandled) {
    const use = outermost(node);
    const { parent } = use;
    if (isExpressionStatement(parent) || isVoidExpression(parent)) add('floating', node);
    else if (isVariableDeclaration(parent) && parent.initializer === use) {
      const late = whyLate(file, nodes, parent);
      if (late !== undefined) add(late, node);
    } else if (isKept(file, use)) add('kept', node);
  }
  for (const node of misused(checker, promises, nodes)) add('misused', node);
  return found;
}

/** Returns whether an expression of this kind may begin work. Names of promises begin none. */
function mayStart(node: Node): boolean {
  return isCallExpression(node) || (isArrayLiteralExpression(node) && node.elements.some(mayStart));
}

/** Returns the outermost expression with the value of a node. */
function outermost(node: Node): Node {
  const { parent } = node;
  switch (parent.kind) {
    case SyntaxKind.ParenthesizedExpression:
    case SyntaxKind.AsExpression:
    case SyntaxKind.SatisfiesExpression:
    case SyntaxKind.NonNullExpression:
    case SyntaxKind.ConditionalExpression:
      return outermost(parent);
    case SyntaxKind.BinaryExpression:
      return isBinaryExpression(parent) && LOGICAL.has(parent.operatorToken.kind) ? outermost(parent) : node;
    default:
      return node;
  }
}

const LOGICAL: ReadonlySet<SyntaxKind> = new Set([
  ...[SyntaxKind.QuestionQuestionToken, SyntaxKind.BarBarToken],
  ...[SyntaxKind.AmpersandAmpersandToken, SyntaxKind.CommaToken],
]);

/** Returns whether a promise has a handler of rejections: `x.catch(f)`, `x.then(f, g)`, one of these with `finally`, or a known value. */
function isHandled(node: Node): boolean {
  if (!isCallExpression(node) || !isPropertyAccessExpression(node.expression)) return false;
  const { name, expression } = node.expression;
  if (name.text === 'resolve' && isIdentifier(expression) && expression.text === 'Promise') return true;
  if (name.text === 'catch') return node.arguments.length === 1;
  if (name.text === 'then') return node.arguments.length === 2;
  return name.text === 'finally' && isHandled(expression);
}

const ADDING: ReadonlySet<string> = new Set(['push', 'unshift', 'set', 'add']);
const ASSIGNING: ReadonlySet<SyntaxKind> = new Set([
  ...[SyntaxKind.EqualsToken, SyntaxKind.QuestionQuestionEqualsToken, SyntaxKind.BarBarEqualsToken],
]);

/** Returns whether a promise is assigned, or added to a collection, and is not used right after that. */
function isKept(file: SourceFile, use: Node): boolean {
  const { parent } = use;
  if (isPropertyAssignment(parent)) return true;
  if (isBinaryExpression(parent) && ASSIGNING.has(parent.operatorToken.kind) && parent.right === use)
    return (
      isExpressionStatement(parent.parent) && !isUsedNext(file, parent.parent, parent.left.getText(file))
    );
  if (!isCallExpression(parent) || !isPropertyAccessExpression(parent.expression)) return false;
  return ADDING.has(parent.expression.name.text) && isExpressionStatement(parent.parent);
}

/** Returns whether the next statement awaits, returns or handles a value. */
function isUsedNext(file: SourceFile, statement: Node, value: string): boolean {
  const siblings: Node[] = [];
  statement.parent.forEachChild((child) => void siblings.push(child));
  const next = siblings[siblings.indexOf(statement) + 1]?.getText(file) ?? '';
  return [`return ${value};`, `await ${value};`, `(await ${value})`, `${value}.catch(`].some((used) =>
    next.includes(used),
  );
}

/** Returns why a variable's promise is loose: something is awaited before its first use, or it is only used in other functions. */
function whyLate(
  file: SourceFile,
  nodes: readonly Node[],
  declaration: Node & { readonly name: Node },
): 'late' | 'kept' | undefined {
  const home = functionOf(declaration);
  const after = nodes.filter((node) => node.pos >= declaration.end && functionOf(node) === home);
  const reasons = namesIn(declaration.name).map((name) => {
    const use = after.find((node) => isIdentifier(node) && node.text === name && isValue(node));
    if (use === undefined) return 'kept';
    return after.some((node) => pauseIn(node) <= use.getStart(file)) ? 'late' : undefined;
  });
  return reasons.find((reason) => reason !== undefined);
}

/** Returns the variables of a declaration, which may be a pattern. */
function namesIn(name: Node): readonly string[] {
  if (isIdentifier(name)) return [name.text];
  const names: string[] = [];
  name.forEachChild((element) => {
    if (isBindingElement(element) && element.name !== undefined) names.push(...namesIn(element.name));
  });
  return names;
}

/** Returns the position after which other work runs, because a node waits; infinite if it does not wait. */
function pauseIn(node: Node): number {
  if (isAwaitExpression(node) || node.kind === SyntaxKind.YieldExpression) return node.end;
  const waits = isForOfStatement(node) && node.awaitModifier !== undefined;
  return waits ? node.expression.end : Number.POSITIVE_INFINITY;
}

/** Returns whether an identifier is a value, and not the name of a member. */
function isValue({ parent }: Node): boolean {
  return parent.kind !== SyntaxKind.TypeQuery && parent.kind !== SyntaxKind.TypeReference;
}

/** Returns the innermost function around a node; undefined for the module. */
function functionOf(node: Node): Node | undefined {
  for (let at = node.parent; at !== undefined; at = at.parent)
    if (
      isArrowFunction(at) ||
      isFunctionDeclaration(at) ||
      isFunctionExpression(at) ||
      isMethodDeclaration(at)
    )
      return at;
  return undefined;
}

/** Returns whether a comment above the statement or member of a node gives a reason. */
function hasReason(file: SourceFile, node: Node): boolean {
  for (let at = node; at !== undefined && at.kind !== SyntaxKind.SourceFile; at = at.parent) {
    if (REASON.test(file.text.slice(at.pos, at.getStart(file)))) return true;
    if (at.parent?.kind === SyntaxKind.Block || at.parent?.kind === SyntaxKind.SourceFile) return false;
  }
  return false;
}

/** Returns the functions among arguments that return a promise to a caller that expects nothing. */
function misused(
  checker: Checker,
  promises: ReturnType<typeof createPromiseTypes>,
  nodes: readonly Node[],
): readonly Node[] {
  const given = nodes
    .filter(isCallExpression)
    .filter((call) => !isRegistration(call.expression))
    .flatMap((call) => [...call.arguments]);
  const types = given.length === 0 ? [] : checker.getTypeAtLocation(given);
  return given.filter((node, at) => {
    const type = types[at];
    if (type === undefined || !returns(checker, type, promises.is)) return false;
    const wanted = checker.getContextualType(node);
    return wanted !== undefined && returnsNothing(checker, wanted);
  });
}

/** Plugins of fastify may be asynchronous, although some of their types say otherwise. `app.ready()` rejects if one fails. */
function isRegistration(called: Node): boolean {
  return isPropertyAccessExpression(called) && called.name.text === 'register';
}

function returns(checker: Checker, type: Type, is: (type: Type) => boolean): boolean {
  if (!type.isObjectType()) return false;
  return checker.getSignaturesOfType(type, SignatureKind.Call).some((signature) => {
    const result = checker.getReturnTypeOfSignature(signature);
    return result !== undefined && is(result);
  });
}

function returnsNothing(checker: Checker, type: Type): boolean {
  const signatures = checker.getSignaturesOfType(type, SignatureKind.Call);
  const nothing = checker.getVoidType();
  return (
    signatures.length > 0 &&
    signatures.every((signature) => checker.getReturnTypeOfSignature(signature)?.id === nothing.id)
  );
}

/** Knows which types are promises, unions with promises, or lists of them. */
function createPromiseTypes(checker: Checker) {
  const known = new Map<number, boolean>();
  const is = (type: Type): boolean => {
    const before = known.get(type.id);
    if (before !== undefined) return before;
    known.set(type.id, false);
    const result = decide(type);
    known.set(type.id, result);
    return result;
  };
  const decide = (type: Type): boolean => {
    if (type.isUnionType()) return (type.getTypes() ?? []).some(is);
    const name = type.getSymbol()?.name;
    if (name === 'Promise' || name === 'PromiseLike') return true;
    if (!checker.isArrayLikeType(type) || !type.isTypeReference()) return false;
    return checker.getTypeArguments(type).some(is);
  };
  return {
    is,
    /** Returns the nodes whose values are promises. */
    among(nodes: readonly Node[]): readonly Node[] {
      const types = nodes.length === 0 ? [] : checker.getTypeAtLocation(nodes);
      return nodes.filter((_, at) => {
        const type = types[at];
        return type !== undefined && is(type);
      });
    },
  };
}
