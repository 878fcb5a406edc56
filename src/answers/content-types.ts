export const htmlType = "text/html; charset=utf-8";
export const textType = "text/plain; charset=utf-8";
export const jsonType = "application/json";
