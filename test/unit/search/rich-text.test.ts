import { describe, expect, it } from 'vitest';
import { plainRichText, withoutMarkup } from '../../../shared/search/rich-text.ts';
import { splitWords } from '../../../shared/search/split-words.ts';

const words = (text: string) => splitWords(text, 'en').map(({ word }) => word);

describe('withoutMarkup', () => {
  it.each([
    ['<p class="big">See <b>[the menu](http://x.test/menu)</b></p>', 'see the menu'],
    ['[menu](http://x.test/a "Our title") and [more](/b \'other\')', 'menu and more'],
    ['[wiki](http://x.test/Pizza_(food)) here', 'wiki here'],
    ['[spaced](<http://x.test/a b> (title)) here', 'spaced here'],
    ['![a dish](/uploads/dish.png "hover") here', 'a dish here'],
    ['[![a dish](dish.png)](http://x.test/large) here', 'a dish here'],
    [
      'Read [the guide][g] or [Guide][].\n\n[g]: http://x.test/g "hover"\n[guide]: <http://x.test>',
      'read the guide or guide',
    ],
    ['the cell [1][2] and the note[^1]\n\n[^1]: seen below', 'the cell 1 2 and the note 1 1 seen below'],
    ['<a title="x > y" href=\'/a\'>shown</a>', 'shown'],
    ["<p title=it's>shown</p>", 'shown'],
    ['a <!-- not <b>this</b> --> b <!-- open', 'a b open'],
    ['a <script type="x">let hidden = 1;</script > b <STYLE>p { color: red }</STYLE> c', 'a b c'],
    ['<https://x.test/a> and <joe@x.test> are shown', 'https x test a and joe x test are shown'],
    ['http://x.test/plain is shown', 'http x test plain is shown'],
    ['2 < 3 and 5 > 4', '2 3 and 5 4'],
    ['caf&eacute; &amp; th&#233;&nbsp;vert &#x4E1; &#39;x&#39; &bogus; &#xD800;', 'café thé vert ӡ x'],
    ['don&rsquo;t &hellip; &alpha;&Beta; 5&nbsp;&euro;', 'don t αβ 5'],
    ['a](b and [c] (d) and ](', 'a b and c d and'],
  ])('%j', (text, expected) => {
    expect(words(withoutMarkup(text)).join(' ')).toBe(expected);
    expect(words(plainRichText(text)).join(' ')).toBe(expected);
  });

  it.each([
    '<!--',
    '<a "',
    "<a '",
    '](',
    '](a "',
    '](   ',
    '[',
    '[a][',
    '<script>',
    '&',
    '[a]: b ',
    '](a(b',
    '*_',
  ])('reads a long text of %j in one pass', (part) => {
    const text = part.repeat(300_000 / part.length);
    expect(withoutMarkup(text).length).toBeGreaterThan(0);
    expect(plainRichText(`${text} end`)).toContain('end');
  });
});

describe('plainRichText', () => {
  it.each([
    ['# Great *pizzas*\n\n> since **1998**', 'Great pizzas since 1998'],
    ['- `one`\n- [two](http://x.test/a "title"), ![three](b.png)', 'one two , three'],
    ['2 * 3, snake_case, a_b_c and 5* hotels', '2 * 3, snake_case, a_b_c and 5* hotels'],
    ['## <b>Tom</b> &amp; ~~Jerry~~ [note] #1', 'Tom & Jerry [note] #1'],
    ['*** and **', '*** and **'],
  ])('%j', (text, plain) => {
    expect(plainRichText(text)).toBe(plain);
    expect(words(plainRichText(text))).toEqual(words(withoutMarkup(text)));
  });
});
