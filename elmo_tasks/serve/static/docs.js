// Shows the schema of the server's addresses. The script of Swagger UI comes with fastapi-offline.
SwaggerUIBundle({ url: '/openapi.json', dom_id: '#swagger-ui', deepLinking: true });
