// Shapes: made one by one, never from text, so that nothing in them can be more than a shape.

const NS = "http://www.w3.org/2000/svg";

export function shape(name, attributes = {}, ...inside) {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}

export function picture(width, height, label, ...inside) {
  return shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...inside);
}

export function label(text, attributes) {
  const made = shape("text", attributes);
  made.textContent = text;
  return made;
}
