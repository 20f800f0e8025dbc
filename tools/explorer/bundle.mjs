// Makes what the explorer's page has in bundled form, run by `make explorer-bundle`:
//   vendor/d3.js and vendor/LICENSES.txt   the libraries as one module, with their licences
//   export.html                            the whole page in one file, the template of `nasbed explore --export`
import { build, transform } from "esbuild";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";

const NAMES = ["extent", "quantileSorted", "scaleLinear", "scaleLog"];
const HERE = new URL(".", import.meta.url);
const PAGE = new URL("../../src/nasbed/explorer/page/", HERE);
const MARKER = "<!-- nasbed-export -->";

const text = (name, folder = PAGE) => readFileSync(new URL(name, folder), "utf8");

async function bundleLibraries() {
  const result = await build({
    stdin: {
      contents: `export { extent, quantileSorted } from "d3-array"; export { scaleLinear, scaleLog } from "d3-scale";`,
      resolveDir: HERE.pathname,
    },
    bundle: true,
    minify: true,
    format: "iife",
    globalName: "d3",
    legalComments: "none",
    banner: {
      js: "// d3-scale, d3-array and what they import; made by `make explorer-bundle`, licences in LICENSES.txt",
    },
    footer: { js: `export const { ${NAMES.join(", ")} } = d3;` },
    outfile: new URL("vendor/d3.js", PAGE).pathname,
    metafile: true,
  });
  const packages = [
    ...new Set(Object.keys(result.metafile.inputs).flatMap((path) => /node_modules\/([^/]+)/.exec(path)?.[1] ?? [])),
  ].sort();
  const licences = packages.map((name) => {
    const folder = new URL(`node_modules/${name}/`, HERE);
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    return `${name} ${JSON.parse(text("package.json", folder)).version}\n\n${text(file, folder).trim()}\n`;
  });
  writeFileSync(new URL("vendor/LICENSES.txt", PAGE), licences.join(`\n${"-".repeat(80)}\n\n`));
}

/** A digest of the files that the export is made of, so that a test can tell when it has to be made again. */
function sourceDigest() {
  const names = [
    ...readdirSync(PAGE).filter((name) => /\.(js|css)$/.test(name) || name === "index.html"),
    "vendor/d3.js",
    "vendor/LICENSES.txt",
  ].sort();
  const hash = createHash("sha256");
  for (const name of names) hash.update(`${name}\n${text(name)}\n`);
  return hash.digest("hex");
}

async function bundlePage() {
  const { outputFiles } = await build({
    entryPoints: [new URL("main.js", PAGE).pathname],
    bundle: true,
    minify: true,
    format: "esm",
    charset: "utf8",
    write: false,
    legalComments: "none",
  });
  const licences = text("vendor/LICENSES.txt").replaceAll("*/", "* /").replaceAll("</", "< /");
  const script = `\n/* Includes:\n\n${licences}*/\n${outputFiles[0].text.replaceAll("</script", "<\\/script").trim()}\n`;
  const style = `\n${(await transform(text("style.css"), { loader: "css", minify: true })).code.trim()}\n`;
  const digest = (content) => `'sha256-${createHash("sha256").update(content).digest("base64")}'`;
  const policy = `default-src 'none'; script-src ${digest(script)}; style-src ${digest(style)}; img-src data:; base-uri 'none'; form-action 'none'`;
  const page = text("index.html")
    .replace(
      '<meta charset="utf-8">',
      () =>
        `<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="${policy}">\n<meta name="source" content="${sourceDigest()}">`,
    )
    .replace('<link rel="stylesheet" href="page/style.css">', () => `<style>${style}</style>`)
    .replace(
      '<script type="module" src="page/main.js"></script>',
      () => `${MARKER}\n<script type="module">${script}</script>`,
    );
  if (page.includes("page/") || page.split(MARKER).length !== 2)
    throw new Error("index.html is not as the export expects");
  writeFileSync(new URL("export.html", PAGE), page);
}

await bundleLibraries();
await bundlePage();
