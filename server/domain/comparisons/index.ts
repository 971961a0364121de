export { create } from "./create";
export { estimate } from "./estimate";
export { get, shown } from "./get";
export { judge } from "./judge";
export { list } from "./list";
export { options } from "./options";
export { works } from "./works";
