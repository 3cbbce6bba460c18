/** Path under which the dashboard is shown, as the page names it: empty, or `/millrace`. */
export const basePath = new URL(document.baseURI).pathname.replace(/\/+$/, '')
