// For the bundle: the help is plain text, one column a character. The package measures emoji and
// Korean too, with tables that take longer to load than the rest of the command line.
export default function stringWidth(text) {
  return [...text].length;
}
