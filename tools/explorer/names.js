// What the page uses of the libraries.
export { extent, quantileSorted } from "d3-array";
export { scaleLinear, scaleLog } from "d3-scale";
