// The site of the documents. pages/ is made by pages.mjs; README.md's make site runs both.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { defineConfig } from "vitepress";
import { grouped } from "../groups.mjs";
import { slug } from "../markdown.mjs";
import { pageFor } from "../pages.mjs";

const out = process.env.SITE_OUT ?? resolve("dist");
const playground = process.env.SITE_PLAYGROUND === "true";

const pathOf = (source) => "/" + (source === "kinds/index.md" ? source : pageFor(source)).replace(/(index)?\.md$/, "");

/** titleOf is the heading of a page. */
const titleOf = (source) => /^# (.*)$/m.exec(readFileSync(resolve("pages", pageFor(source)), "utf8"))[1].replaceAll("`", "");

const sidebar = grouped((directory) => readdirSync(resolve("pages", directory.replace(/^docs\//, "")))).map(({ text, collapsed = false, items }) => ({
  text, collapsed,
  items: items.map(([source, title]) => ({ text: title ?? titleOf(source), link: pathOf(source) })),
}));

/**
 * policy lets a page load only what belongs to the site. Its own scripts within the page are
 * named by their checksums.
 */
function policy(html) {
  const sums = [...html.matchAll(/<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g)]
    .map(([, script]) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`);
  return [
    "default-src 'none'", `script-src 'self' ${[...new Set(sums)].join(" ")}`, "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:", "font-src 'self'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'",
  ].join("; ");
}

/** literal keeps Vue from reading the braces of templates in texts and code as its own. */
function literal(md) {
  const { code_inline: code, text } = md.renderer.rules;
  md.renderer.rules.code_inline = (tokens, i, ...rest) => {
    tokens[i].attrSet("v-pre", "");
    return code(tokens, i, ...rest);
  };
  md.renderer.rules.text = (...all) => text(...all).replaceAll("{{", "&#123;&#123;");
}

export default defineConfig({
  title: "Jacquard",
  description: "A Kubernetes operator that you extend with folders of templates instead of code",
  lang: "en",
  base: process.env.SITE_BASE ?? "/",
  srcDir: "pages",
  outDir: out,
  cacheDir: "cache",
  cleanUrls: false,
  metaChunk: true,
  lastUpdated: false,
  markdown: { theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" }, anchor: { slugify: slug }, headers: { slugify: slug }, toc: { slugify: slug }, config: literal },
  transformPageData({ relativePath, frontmatter }) {
    if (playground && relativePath === "index.md") {
      frontmatter.hero.actions.splice(1, 0, { theme: "alt", text: "Try it in your browser", link: "/playground/", target: "_self" });
    }
  },
  transformHtml: (html) => html.replace(/(<meta charset="utf-8">)/, `$1<meta http-equiv="Content-Security-Policy" content="${policy(html)}">`),
  themeConfig: {
    search: { provider: "local" },
    outline: { level: [2, 3] },
    externalLinkIcon: true,
    sidebar,
    nav: [
      { text: "Start", link: "/tutorial" },
      { text: "Write kinds", link: "/templates" },
      { text: "Apply resources", link: "/resources" },
      { text: "Run the operator", link: "/operations/" },
      { text: "Gallery", link: "/kinds/" },
      ...(playground ? [{ text: "Playground", link: "/playground/", target: "_self" }] : []),
    ],
    footer: { message: "Apache-2.0" },
  },
});
