// Bundles the libraries of the explorer's page into one module, with their licences beside it. Run by `make explorer-bundle`.
import { build } from "esbuild";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";

const NAMES = ["extent", "quantileSorted", "scaleLinear", "scaleLog"];
const VENDOR = new URL("../../src/nasbed/explorer/page/vendor/", import.meta.url).pathname;

const result = await build({
  stdin: { contents: `export { ${NAMES.join(", ")} } from "./names.js";`, resolveDir: new URL(".", import.meta.url).pathname },
  bundle: true,
  minify: true,
  format: "iife",
  globalName: "d3",
  legalComments: "none",
  banner: { js: "// d3-scale, d3-array and what they import; made by `make explorer-bundle`, licences in LICENSES.txt" },
  footer: { js: `export const { ${NAMES.join(", ")} } = d3;` },
  outfile: `${VENDOR}d3.js`,
  metafile: true,
});

const packages = [...new Set(Object.keys(result.metafile.inputs).flatMap((path) => /node_modules\/([^/]+)/.exec(path)?.[1] ?? []))].sort();
const licences = packages.map((name) => {
  const folder = new URL(`node_modules/${name}/`, import.meta.url);
  const { version } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8"));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  return `${name} ${version}\n\n${readFileSync(new URL(file, folder), "utf8").trim()}\n`;
});
writeFileSync(`${VENDOR}LICENSES.txt`, licences.join(`\n${"-".repeat(80)}\n\n`));
