/* Makes an element with attributes, listeners and children. Arrays of children are flattened; null
 * and undefined are skipped. */
function make(tag, properties, ...children) {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(properties || {})) {
        if (key.startsWith('on'))
            element.addEventListener(key.slice(2), value);
        else if (key === 'class')
            element.className = value;
        else if (value !== null && value !== undefined && value !== false)
            element.setAttribute(key, value === true ? '' : value);
    }
    element.append(...children.flat().filter(child => child !== null && child !== undefined));
    return element;
}
