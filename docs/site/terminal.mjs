// A recording of a command as one picture that moves by itself: its lines light up one
// after the other. It is made of what the command prints, and loads nothing.

const escape = (text) => text.replace(/[&<>]/g, (c) => `&#${c.codePointAt(0)};`);

/** until is the first line that a recording leaves out: what follows has times in it. */
const until = /^3\. /m;
const row = 17;
const step = 0.09;

/** terminal draws a command and what it printed. */
export function terminal(command, printed) {
  const end = until.exec(printed)?.index ?? printed.length;
  const lines = [`$ ${command}`, ...printed.slice(0, end).trimEnd().split("\n")];
  const width = Math.max(...lines.map((text) => text.length)) * 7.3 + 32;
  const height = lines.length * row + 28;
  const texts = lines.map((text, i) => {
    const kind = /^\d\. |^\$ /.test(text) ? ' class="head"' : "";
    return text === "" ? "" :
      `<text${kind} x="16" y="${28 + i * row}" style="animation-delay:${(0.6 + i * step).toFixed(2)}s" xml:space="preserve">${escape(text)}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${Math.ceil(width)} ${height}" role="img">`,
    `<title>What ${escape(command)} prints</title>`,
    "<style>rect{fill:#1b1b1f}text{font:12px ui-monospace,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;fill:#dfdfd6;animation:show .2s both}",
    ".head{fill:#f0b060;font-weight:bold}@keyframes show{from{opacity:.15}to{opacity:1}}",
    "@media(prefers-reduced-motion:reduce){text{animation:none}}</style>",
    `<rect width="100%" height="100%" rx="8"/>`,
    ...texts,
    "</svg>\n",
  ].join("");
}
